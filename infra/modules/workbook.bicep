// The workbook: turns, their ends, how long they took, and what went wrong, from the log.
param location string
param tags object
param workspaceId string

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(workspaceId, 'attest')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Attest'
    category: 'workbook'
    sourceId: workspaceId
    serializedData: loadTextContent('../workbook.json')
  }
}
