// Where the log of the app goes, with a ceiling a day: what is above it is dropped, and alerts on the log are blind until the next day.
param name string
param location string
param tags object
param days int
param dailyGb int

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: days
    workspaceCapping: {
      dailyQuotaGb: dailyGb
    }
    features: {
      disableLocalAuth: true
    }
  }
}

output id string = workspace.id
