// Content Safety or AI Language: an account under a name of its own, since tokens are not taken under a region's.
param name string

@allowed(['ContentSafety', 'TextAnalytics'])
param kind string

param sku string
param location string
param tags object
param principalId string
param private bool

var roles = loadJsonContent('../roles.json')

resource account 'Microsoft.CognitiveServices/accounts@2025-12-01' = {
  name: name
  location: location
  tags: tags
  kind: kind
  sku: {
    name: sku
  }
  properties: {
    customSubDomainName: name
    disableLocalAuth: true
    publicNetworkAccess: private ? 'Disabled' : 'Enabled'
  }
}

resource use 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, principalId, roles.cognitiveServicesUser.id)
  scope: account
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.cognitiveServicesUser.id)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

output id string = account.id
output endpoint string = 'https://${name}.cognitiveservices.azure.com'
