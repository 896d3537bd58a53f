// The shares of the app's home and of the ledger's keys. NFS and not SMB: the home needs the modes, the locks and the renames of a Unix file system. NFS has no
// sign-in, and the service takes it unencrypted only (hence no https alone): who is let in is decided by the network, which is the app's subnet and nothing else.
param name string
param location string
param tags object
param sku string
param homeGib int
param subnetId string

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'FileStorage'
  sku: {
    name: sku
  }
  properties: {
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: false
    allowBlobPublicAccess: false
    allowSharedKeyAccess: false
    networkAcls: {
      bypass: 'None'
      defaultAction: 'Deny'
      virtualNetworkRules: [
        {
          id: subnetId
          action: 'Allow'
        }
      ]
    }
  }
}

resource service 'Microsoft.Storage/storageAccounts/fileServices@2025-06-01' = {
  parent: account
  name: 'default'
}

resource home 'Microsoft.Storage/storageAccounts/fileServices/shares@2025-06-01' = {
  parent: service
  name: 'home'
  properties: {
    enabledProtocols: 'NFS'
    rootSquash: 'NoRootSquash'
    shareQuota: homeGib
  }
}

resource keys 'Microsoft.Storage/storageAccounts/fileServices/shares@2025-06-01' = {
  parent: service
  name: 'keys'
  properties: {
    enabledProtocols: 'NFS'
    rootSquash: 'NoRootSquash'
    shareQuota: 100
  }
  dependsOn: [
    home
  ]
}

output name string = account.name
output host string = '${name}.file.${environment().suffixes.storage}'
