// The bot, registered as the managed identity or as an app of this tenant, and its Teams channel.
param name string
param tags object
param sku string

@allowed(['UserAssignedMSI', 'SingleTenant'])
param type string

param appId string
param identityId string
param endpoint string

resource bot 'Microsoft.BotService/botServices@2022-09-15' = {
  name: name
  location: 'global'
  tags: tags
  kind: 'azurebot'
  sku: {
    name: sku
  }
  properties: {
    displayName: 'Attest'
    endpoint: endpoint
    msaAppType: type
    msaAppId: appId
    msaAppTenantId: subscription().tenantId
    msaAppMSIResourceId: empty(identityId) ? null : identityId
    disableLocalAuth: true
  }
}

resource teams 'Microsoft.BotService/botServices/channels@2022-09-15' = {
  parent: bot
  name: 'MsTeamsChannel'
  location: 'global'
  properties: {
    channelName: 'MsTeamsChannel'
    properties: {
      isEnabled: true
    }
  }
}
