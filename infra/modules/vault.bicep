// What is secret: the address with which checkpoints are written, and, where they are given, the bot's password, the keys of the API and the secret of signing in.
param name string
param location string
param tags object
param private bool
param softDeleteDays int
param purgeProtection bool
param principalId string
param storageName string
param checkpointContainer string
param checkpointExpiry string

@secure()
param botAppPassword string

@secure()
param apiKeys string

@secure()
param signInSecret string

var roles = loadJsonContent('../roles.json')

resource vault 'Microsoft.KeyVault/vaults@2025-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: subscription().tenantId
    sku: {
      family: 'A'
      name: 'standard'
    }
    enableRbacAuthorization: true
    enablePurgeProtection: purgeProtection ? true : null
    enableSoftDelete: true
    softDeleteRetentionInDays: softDeleteDays
    publicNetworkAccess: private ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: private ? 'Deny' : 'Allow'
    }
  }
}

resource read 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, principalId, roles.keyVaultSecretsUser.id)
  scope: vault
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.keyVaultSecretsUser.id)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

resource storage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageName
}

// create, read and list, never write or delete: what docs/ledger.md asks for
var signature = storage.listServiceSas('2025-06-01', {
  canonicalizedResource: '/blob/${storageName}/${checkpointContainer}'
  signedResource: 'c'
  signedPermission: 'rcl'
  signedProtocol: 'https'
  signedExpiry: checkpointExpiry
}).serviceSasToken

resource checkpoints 'Microsoft.KeyVault/vaults/secrets@2025-05-01' = {
  parent: vault
  name: 'checkpoints'
  properties: {
    value: 'https://${storageName}.blob.${environment().suffixes.storage}/${checkpointContainer}?${signature}'
    contentType: 'address of a blob container with its signature'
    attributes: {
      exp: dateTimeToEpoch(checkpointExpiry)
    }
  }
}

resource bot 'Microsoft.KeyVault/vaults/secrets@2025-05-01' = if (!empty(botAppPassword)) {
  parent: vault
  name: 'bot-app-password'
  properties: {
    value: botAppPassword
    contentType: 'secret of the registered app'
  }
}

resource api 'Microsoft.KeyVault/vaults/secrets@2025-05-01' = if (!empty(apiKeys)) {
  parent: vault
  name: 'api-keys'
  properties: {
    value: apiKeys
    contentType: 'bearer keys, comma-separated'
  }
}

resource signIn 'Microsoft.KeyVault/vaults/secrets@2025-05-01' = if (!empty(signInSecret)) {
  parent: vault
  name: 'sign-in-secret'
  properties: {
    value: signInSecret
    contentType: 'secret of the application that reviewers sign in with'
  }
}

// With their version: of an address without one Container Apps looks for newer versions by itself and restarts the app, and for a moment two would have one home.
output id string = vault.id
output checkpointsSecretUrl string = checkpoints.properties.secretUriWithVersion
output botSecretUrl string = empty(botAppPassword) ? '' : bot.properties.secretUriWithVersion
output apiKeysSecretUrl string = empty(apiKeys) ? '' : api.properties.secretUriWithVersion
output signInSecretUrl string = empty(signInSecret) ? '' : signIn.properties.secretUriWithVersion
