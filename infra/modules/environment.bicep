// Where the app runs: the environment in the network, the shares that can be mounted, and where logs go.
param name string
param location string
param tags object
param subnetId string
param workspaceId string
param filesHost string
param filesName string
param storageName string
param documentsShare string

resource apps 'Microsoft.App/managedEnvironments@2025-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    vnetConfiguration: {
      infrastructureSubnetId: subnetId
      internal: false
    }
    appLogsConfiguration: {
      destination: 'azure-monitor'
    }
    workloadProfiles: [
      {
        name: 'Consumption'
        workloadProfileType: 'Consumption'
      }
    ]
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'logs'
  scope: apps
  properties: {
    workspaceId: workspaceId
    logs: [
      {
        category: 'ContainerAppConsoleLogs'
        enabled: true
      }
      {
        category: 'ContainerAppSystemLogs'
        enabled: true
      }
    ]
  }
}

resource home 'Microsoft.App/managedEnvironments/storages@2025-07-01' = {
  parent: apps
  name: 'home'
  properties: {
    nfsAzureFile: {
      server: filesHost
      shareName: '/${filesName}/home'
      accessMode: 'ReadWrite'
    }
  }
}

resource keys 'Microsoft.App/managedEnvironments/storages@2025-07-01' = {
  parent: apps
  name: 'keys'
  properties: {
    nfsAzureFile: {
      server: filesHost
      shareName: '/${filesName}/keys'
      accessMode: 'ReadWrite'
    }
  }
}

resource storage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageName
}

resource documents 'Microsoft.App/managedEnvironments/storages@2025-07-01' = {
  parent: apps
  name: 'documents'
  properties: {
    azureFile: {
      accountName: storageName
      accountKey: storage.listKeys().keys[0].value
      shareName: documentsShare
      accessMode: 'ReadOnly'
    }
  }
}

output id string = apps.id
output domain string = apps.properties.defaultDomain
