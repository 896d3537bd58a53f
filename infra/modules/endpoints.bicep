// A private endpoint for each target: {name, id, group, zone}.
param location string
param tags object
param subnetId string
param targets array

resource endpoints 'Microsoft.Network/privateEndpoints@2025-05-01' = [for target in targets: {
  name: 'attest-${target.name}'
  location: location
  tags: tags
  properties: {
    subnet: {
      id: subnetId
    }
    privateLinkServiceConnections: [
      {
        name: target.name
        properties: {
          privateLinkServiceId: target.id
          groupIds: [
            target.group
          ]
        }
      }
    ]
  }
}]

resource names 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-05-01' = [for (target, index) in targets: {
  parent: endpoints[index]
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: target.name
        properties: {
          privateDnsZoneId: resourceId('Microsoft.Network/privateDnsZones', target.zone)
        }
      }
    ]
  }
}]
