// The second place of the ledger's checkpoints, a container in which nothing is changed or deleted for some days, and the share that documents are put on.
// The policy is not locked here: that cannot be taken back, and is a step of docs/deploy.md.
param name string
param location string
param tags object
param sku string
param private bool
param subnetId string
param checkpointDays int

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: sku
  }
  properties: {
    accessTier: 'Hot'
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    allowBlobPublicAccess: false
    allowSharedKeyAccess: true
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: private ? 'Deny' : 'Allow'
      virtualNetworkRules: [
        {
          id: subnetId
          action: 'Allow'
        }
      ]
    }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' = {
  parent: account
  name: 'default'
}

resource checkpoints 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' = {
  parent: blobs
  name: 'checkpoints'
  properties: {
    publicAccess: 'None'
  }
}

resource immutable 'Microsoft.Storage/storageAccounts/blobServices/containers/immutabilityPolicies@2025-06-01' = {
  parent: checkpoints
  name: 'default'
  properties: {
    immutabilityPeriodSinceCreationInDays: checkpointDays
    allowProtectedAppendWrites: false
  }
}

resource shares 'Microsoft.Storage/storageAccounts/fileServices@2025-06-01' = {
  parent: account
  name: 'default'
}

resource documents 'Microsoft.Storage/storageAccounts/fileServices/shares@2025-06-01' = {
  parent: shares
  name: 'documents'
  properties: {
    enabledProtocols: 'SMB'
    shareQuota: 100
  }
}

output id string = account.id
output name string = account.name
output checkpointContainer string = checkpoints.name
output documentsShare string = documents.name
