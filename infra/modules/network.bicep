// The network that the app runs in: the shares of its home are mounted through it, and private endpoints lie in it.
param name string
param location string
param tags object

resource network 'Microsoft.Network/virtualNetworks@2025-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        '10.40.0.0/16'
      ]
    }
    subnets: [
      {
        name: 'apps'
        properties: {
          addressPrefix: '10.40.0.0/23'
          delegations: [
            {
              name: 'apps'
              properties: {
                serviceName: 'Microsoft.App/environments'
              }
            }
          ]
          serviceEndpoints: [
            {
              service: 'Microsoft.Storage'
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: '10.40.2.0/24'
        }
      }
    ]
  }
}

output id string = network.id
output appsSubnetId string = network.properties.subnets[0].id
output endpointsSubnetId string = network.properties.subnets[1].id
