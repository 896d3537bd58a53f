// Azure AI Search. The identity that answers is the one that ingests too, as long as both work on one home: so it may make indexes and write to them.
param name string
param location string
param tags object
param principalId string
param private bool
param sku string
param replicas int
param partitions int
param semantic string

var roles = loadJsonContent('../roles.json')

resource service 'Microsoft.Search/searchServices@2025-05-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: sku
  }
  properties: {
    replicaCount: replicas
    partitionCount: partitions
    semanticSearch: semantic
    disableLocalAuth: true
    publicNetworkAccess: private ? 'Disabled' : 'Enabled'
  }
}

resource makeIndexes 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(service.id, principalId, roles.searchServiceContributor.id)
  scope: service
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.searchServiceContributor.id)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

resource fillIndexes 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(service.id, principalId, roles.searchIndexDataContributor.id)
  scope: service
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.searchIndexDataContributor.id)
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}

output id string = service.id
output endpoint string = 'https://${name}.search.windows.net'
