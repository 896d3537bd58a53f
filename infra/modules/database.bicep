// The database that the app keeps everything in: a flexible server that knows who comes by Microsoft Entra ID alone. The app's identity is its administrator, so that it owns
// the tables that it makes.
param name string
param location string
param tags object
param principalId string
param principalName string
param private bool
param skuName string
param skuTier string
param storageGib int
param backupDays int
param highAvailability string

resource server 'Microsoft.DBforPostgreSQL/flexibleServers@2024-08-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: skuName
    tier: skuTier
  }
  properties: {
    version: '16'
    authConfig: {
      activeDirectoryAuth: 'Enabled'
      passwordAuth: 'Disabled'
      tenantId: subscription().tenantId
    }
    storage: {
      storageSizeGB: storageGib
      autoGrow: 'Enabled'
    }
    backup: {
      backupRetentionDays: backupDays
      geoRedundantBackup: 'Disabled'
    }
    highAvailability: {
      mode: highAvailability
    }
    network: {
      publicNetworkAccess: private ? 'Disabled' : 'Enabled'
    }
  }
}

// One after the other: the server takes one change at a time.
resource database 'Microsoft.DBforPostgreSQL/flexibleServers/databases@2024-08-01' = {
  parent: server
  name: 'attest'
  properties: {
    charset: 'UTF8'
    collation: 'en_US.utf8' // what is compared or sorted says its own
  }
}

resource administrator 'Microsoft.DBforPostgreSQL/flexibleServers/administrators@2024-08-01' = {
  parent: server
  name: principalId
  properties: {
    principalType: 'ServicePrincipal'
    principalName: principalName
    tenantId: subscription().tenantId
  }
  dependsOn: [
    database
  ]
}

// without private endpoints: whatever runs in Azure may knock, and comes in with a token of the administrator alone
resource fromAzure 'Microsoft.DBforPostgreSQL/flexibleServers/firewallRules@2024-08-01' = if (!private) {
  parent: server
  name: 'azure'
  properties: {
    startIpAddress: '0.0.0.0'
    endIpAddress: '0.0.0.0'
  }
  dependsOn: [
    administrator
  ]
}

output id string = server.id
output url string = 'postgresql://${principalName}@${server.properties.fullyQualifiedDomainName}:5432/${database.name}?sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt'
