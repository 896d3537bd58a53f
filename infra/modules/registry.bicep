// The registry that the image is built in and pulled from. It keeps its public address also with private endpoints, which only its dearest kind has; nobody
// gets in without a sign-in.
param name string
param location string
param tags object
param sku string
param principalId string

var roles = loadJsonContent('../roles.json')

resource registry 'Microsoft.ContainerRegistry/registries@2025-04-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: sku
  }
  properties: {
    adminUserEnabled: false
  }
}

resource pull 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(registry.id, principalId, roles.acrPull.id)
  scope: registry
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.acrPull.id)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

output name string = registry.name
output server string = registry.properties.loginServer
