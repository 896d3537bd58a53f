// Everything that Attest needs on Azure, in a resource group of its own. `azd up` at the repository's root deploys it twice: first without an image, which
// makes the registry that the image is built in, then with it. Steps: docs/deploy.md. Plain Bicep on purpose: what checks it without a cloud reads no more.
targetScope = 'subscription'

@minLength(1)
@maxLength(24)
@description('Name of this deployment; part of the names of all resources')
param environmentName string

@description('Region of all resources but the bot, which is global')
param location string

@allowed(['tryout', 'production'])
@description('Sizes and flags: a file of plans/')
param planName string = 'tryout'

@description('Image of Attest, with its registry and tag; empty: everything but the app is made')
param image string = ''

@description('Name of the company in the system instructions')
param company string = 'the company'

@description('Host name of your own under which people reach the app; empty: that of Container Apps')
param publicHost string = ''

@description('Chat model and its version: docs/azure.md says how to see what can be deployed')
param chatModel string

param chatVersion string

@allowed(['graph', 'file'])
@description('Who knows the groups of a person')
param directory string = 'graph'

@allowed(['none', 'postgres'])
@description('Where record, state and documents lie: files of the home, or a PostgreSQL that is made for them')
param database string = 'none'

@allowed(['UserAssignedMSI', 'SingleTenant'])
@description('Registration of the bot: the managed identity, or an app of this tenant that is registered already')
param botType string = 'UserAssignedMSI'

@description('Application id of the registered app, with SingleTenant')
param botAppId string = ''

@secure()
@description('Its secret, with SingleTenant')
param botAppPassword string = ''

@secure()
@description('Bearer keys of /api and /metrics, comma-separated; empty: both are shut')
param apiKeys string = ''

@description('Application of this tenant that reviewers sign in with; empty: they come by a link')
param signInClientId string = ''

@secure()
@description('Its secret')
param signInSecret string = ''

@description('App roles or groups that may read at the reviewers\' desk, comma-separated')
param signInReaders string = 'Desk.Read'

@description('Those that may also decide and download')
param signInReviewers string = 'Desk.Review'

@description('Those that may also see every turn and end the sessions of others')
param signInAdministrators string = 'Desk.Administer'

@allowed(['all', 'team'])
@description('Whose turns readers and reviewers see, where people sign in')
param reviewSees string = 'all'

@description('Who gets the alerts; empty: nobody, they stand in the portal alone')
param alertEmail string = ''

@description('Time of this deployment: the signature that lets checkpoints be written ends two years later')
param deployedAt string = utcNow('yyyy-MM-ddTHH:mm:ssZ')

var plans = {
  tryout: loadJsonContent('plans/tryout.json')
  production: loadJsonContent('plans/production.json')
}
var plan = plans[planName]
var tags = {
  'azd-env-name': environmentName
}
var token = toLower(uniqueString(subscription().id, environmentName, location))
var embeddingModel = 'text-embedding-3-small'
var zoneNames = [
  'privatelink.openai.azure.com'
  'privatelink.cognitiveservices.azure.com'
  'privatelink.search.windows.net'
  'privatelink.vaultcore.azure.net'
  'privatelink.blob.${environment().suffixes.storage}'
  'privatelink.postgres.database.azure.com'
]
var endpointOfDatabase = database == 'none' ? [] : [
  {
    name: 'database'
    id: server.outputs.id
    group: 'postgresqlServer'
    zone: zoneNames[5]
  }
]

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-${environmentName}'
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: 'attest-${token}'
    location: location
    tags: tags
  }
}

module network 'modules/network.bicep' = {
  name: 'network'
  scope: group
  params: {
    name: 'attest-${token}'
    location: location
    tags: tags
  }
}

module logs 'modules/logs.bicep' = {
  name: 'logs'
  scope: group
  params: {
    name: 'attest-${token}'
    location: location
    tags: tags
    days: plan.logDays
    dailyGb: plan.logDailyGb
  }
}

module registry 'modules/registry.bicep' = {
  name: 'registry'
  scope: group
  params: {
    name: 'attest${token}'
    location: location
    tags: tags
    sku: plan.registrySku
    principalId: identity.outputs.principalId
  }
}

module openai 'modules/openai.bicep' = {
  name: 'openai'
  scope: group
  params: {
    name: 'attest-openai-${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    private: plan.privateEndpoints
    modelSku: plan.modelSku
    chatModel: chatModel
    chatVersion: chatVersion
    chatCapacity: plan.chatCapacity
    embeddingModel: embeddingModel
    embeddingCapacity: plan.embeddingCapacity
  }
}

module safety 'modules/cognitive.bicep' = {
  name: 'safety'
  scope: group
  params: {
    name: 'attest-safety-${token}'
    kind: 'ContentSafety'
    sku: 'S0'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    private: plan.privateEndpoints
  }
}

module language 'modules/cognitive.bicep' = {
  name: 'language'
  scope: group
  params: {
    name: 'attest-language-${token}'
    kind: 'TextAnalytics'
    sku: 'S'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    private: plan.privateEndpoints
  }
}

module search 'modules/search.bicep' = {
  name: 'search'
  scope: group
  params: {
    name: 'attest-search-${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    private: plan.privateEndpoints
    sku: plan.searchSku
    replicas: plan.searchReplicas
    partitions: plan.searchPartitions
    semantic: plan.semanticSearch
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: 'attest${token}'
    location: location
    tags: tags
    sku: plan.storageSku
    private: plan.privateEndpoints
    subnetId: network.outputs.appsSubnetId
    checkpointDays: plan.checkpointDays
  }
}

module server 'modules/database.bicep' = if (database != 'none') {
  name: 'database'
  scope: group
  params: {
    name: 'attest-db-${token}'
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    principalName: identity.outputs.name
    private: plan.privateEndpoints
    skuName: plan.databaseSku
    skuTier: plan.databaseTier
    storageGib: plan.databaseGib
    backupDays: plan.databaseDays
    highAvailability: plan.databaseHighAvailability
  }
}

module files 'modules/files.bicep' = {
  name: 'files'
  scope: group
  params: {
    name: 'attesthome${token}'
    location: location
    tags: tags
    sku: plan.fileSku
    homeGib: plan.homeGib
    subnetId: network.outputs.appsSubnetId
  }
}

module vault 'modules/vault.bicep' = {
  name: 'vault'
  scope: group
  params: {
    name: 'attest-${token}'
    location: location
    tags: tags
    private: plan.privateEndpoints
    softDeleteDays: plan.vaultDays
    purgeProtection: plan.purgeProtection
    principalId: identity.outputs.principalId
    storageName: storage.outputs.name
    checkpointContainer: storage.outputs.checkpointContainer
    checkpointExpiry: dateTimeAdd(deployedAt, 'P2Y')
    botAppPassword: botAppPassword
    apiKeys: apiKeys
    signInSecret: empty(signInClientId) ? '' : signInSecret
  }
}

module zones 'modules/zones.bicep' = if (plan.privateEndpoints) {
  name: 'zones'
  scope: group
  params: {
    names: zoneNames
    networkId: network.outputs.id
    tags: tags
  }
}

module endpoints 'modules/endpoints.bicep' = if (plan.privateEndpoints) {
  name: 'endpoints'
  scope: group
  params: {
    location: location
    tags: tags
    subnetId: network.outputs.endpointsSubnetId
    targets: concat([
      {
        name: 'openai'
        id: openai.outputs.id
        group: 'account'
        zone: zoneNames[0]
      }
      {
        name: 'safety'
        id: safety.outputs.id
        group: 'account'
        zone: zoneNames[1]
      }
      {
        name: 'language'
        id: language.outputs.id
        group: 'account'
        zone: zoneNames[1]
      }
      {
        name: 'search'
        id: search.outputs.id
        group: 'searchService'
        zone: zoneNames[2]
      }
      {
        name: 'vault'
        id: vault.outputs.id
        group: 'vault'
        zone: zoneNames[3]
      }
      {
        name: 'checkpoints'
        id: storage.outputs.id
        group: 'blob'
        zone: zoneNames[4]
      }
    ], endpointOfDatabase)
  }
  dependsOn: [
    zones
  ]
}

module apps 'modules/environment.bicep' = {
  name: 'environment'
  scope: group
  params: {
    name: 'attest-${token}'
    location: location
    tags: tags
    subnetId: network.outputs.appsSubnetId
    workspaceId: logs.outputs.id
    filesHost: files.outputs.host
    filesName: files.outputs.name
    storageName: storage.outputs.name
    documentsShare: storage.outputs.documentsShare
  }
}

var appName = 'attest'
var host = empty(publicHost) ? '${appName}.${apps.outputs.domain}' : publicHost
var appId = botType == 'SingleTenant' ? botAppId : identity.outputs.clientId

module app 'modules/app.bicep' = if (!empty(image)) {
  name: 'app'
  scope: group
  params: {
    name: appName
    location: location
    tags: tags
    environmentId: apps.outputs.id
    identityId: identity.outputs.id
    clientId: identity.outputs.clientId
    registryServer: registry.outputs.server
    image: image
    cpu: plan.cpu
    memory: plan.memory
    workers: plan.workers
    company: company
    host: host
    botType: botType
    botAppId: appId
    directory: directory
    databaseUrl: database == 'postgres' ? server.outputs.url : ''
    openaiEndpoint: openai.outputs.endpoint
    chatDeployment: openai.outputs.chatDeployment
    embeddingDeployment: openai.outputs.embeddingDeployment
    searchEndpoint: search.outputs.endpoint
    safetyEndpoint: safety.outputs.endpoint
    languageEndpoint: language.outputs.endpoint
    checkpointsSecretUrl: vault.outputs.checkpointsSecretUrl
    botSecretUrl: vault.outputs.botSecretUrl
    apiKeysSecretUrl: vault.outputs.apiKeysSecretUrl
    signInClientId: signInClientId
    signInSecretUrl: vault.outputs.signInSecretUrl
    signInReaders: signInReaders
    signInReviewers: signInReviewers
    signInAdministrators: signInAdministrators
    reviewSees: reviewSees
  }
  dependsOn: [
    endpoints
  ]
}

module bot 'modules/bot.bicep' = {
  name: 'bot'
  scope: group
  params: {
    name: 'attest-bot-${token}'
    tags: tags
    sku: plan.botSku
    type: botType
    appId: appId
    identityId: botType == 'UserAssignedMSI' ? identity.outputs.id : ''
    endpoint: 'https://${host}/api/messages'
  }
}

module alerts 'modules/alerts.bicep' = if (!empty(image)) {
  name: 'alerts'
  scope: group
  params: {
    location: location
    tags: tags
    appName: appName
    workspaceId: logs.outputs.id
    email: alertEmail
  }
  dependsOn: [
    app
  ]
}

module workbook 'modules/workbook.bicep' = {
  name: 'workbook'
  scope: group
  params: {
    location: location
    tags: tags
    workspaceId: logs.outputs.id
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_CONTAINER_REGISTRY_NAME string = registry.outputs.name
output AZURE_CONTAINER_REGISTRY_ENDPOINT string = registry.outputs.server
output APP_NAME string = appName
output APP_HOST string = host
output TEAMS_APP_ID string = appId
output IDENTITY_PRINCIPAL_ID string = identity.outputs.principalId
output STORAGE_NAME string = storage.outputs.name
output DOCUMENTS_SHARE string = storage.outputs.documentsShare
output CHECKPOINT_CONTAINER string = storage.outputs.checkpointContainer
