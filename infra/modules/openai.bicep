// Azure OpenAI: the chat model and the embedding model, one after the other, since an account takes one deployment at a time.
param name string
param location string
param tags object
param principalId string
param private bool
param modelSku string
param chatModel string
param chatVersion string

@description('In thousands of tokens a minute')
param chatCapacity int

param embeddingModel string

@description('In thousands of tokens a minute')
param embeddingCapacity int

var roles = loadJsonContent('../roles.json')

resource account 'Microsoft.CognitiveServices/accounts@2025-12-01' = {
  name: name
  location: location
  tags: tags
  kind: 'OpenAI'
  sku: {
    name: 'S0'
  }
  properties: {
    customSubDomainName: name
    disableLocalAuth: true
    publicNetworkAccess: private ? 'Disabled' : 'Enabled'
  }
}

resource chat 'Microsoft.CognitiveServices/accounts/deployments@2025-12-01' = {
  parent: account
  name: 'chat'
  sku: {
    name: modelSku
    capacity: chatCapacity
  }
  properties: {
    model: {
      format: 'OpenAI'
      name: chatModel
      version: chatVersion
    }
    versionUpgradeOption: 'NoAutoUpgrade'
  }
}

resource embedding 'Microsoft.CognitiveServices/accounts/deployments@2025-12-01' = {
  parent: account
  name: embeddingModel
  sku: {
    name: modelSku
    capacity: embeddingCapacity
  }
  properties: {
    model: {
      format: 'OpenAI'
      name: embeddingModel
      version: '1'
    }
    versionUpgradeOption: 'NoAutoUpgrade'
  }
  dependsOn: [
    chat
  ]
}

resource use 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, roles.cognitiveServicesOpenAIUser.id)
  scope: account
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.cognitiveServicesOpenAIUser.id)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

output id string = account.id
output endpoint string = 'https://${name}.openai.azure.com/openai/v1/'
output chatDeployment string = chat.name
output embeddingDeployment string = embedding.name
