// Alerts on the log and on the app. What each means and what to do stands in docs/deploy.md, under its name.
param location string
param tags object
param appName string
param workspaceId string
param email string

var turns = 'ContainerAppConsoleLogs | where ContainerAppName == "${appName}" | extend line = parse_json(Log) | where tostring(line.logger) == "attest.turn" and isnotempty(tostring(line.outcome))'
var lines = 'ContainerAppConsoleLogs | where ContainerAppName == "${appName}" | extend line = parse_json(Log)'
var onLog = [
  {
    name: 'attest-turns-fail'
    severity: 1
    window: 'PT15M'
    every: 'PT5M'
    query: '${turns} | summarize failed = countif(tostring(line.outcome) == "failed"), total = count() | where failed >= 3 and failed * 10 >= total'
  }
  {
    name: 'attest-turns-slow'
    severity: 2
    window: 'PT30M'
    every: 'PT15M'
    query: '${turns} | summarize p90 = percentile(todouble(line.ms), 90), total = count() | where total >= 10 and p90 > 30000'
  }
  {
    name: 'attest-ledger-broken'
    severity: 0
    window: 'PT15M'
    every: 'PT5M'
    query: '${lines} | where tostring(line.message) startswith "the ledger does not hold"'
  }
  {
    name: 'attest-checkpoint-missing'
    severity: 2
    window: 'PT15M'
    every: 'PT15M'
    query: '${lines} | where tostring(line.message) startswith "no checkpoint of the ledger was published"'
  }
  {
    name: 'attest-errors'
    severity: 2
    window: 'PT15M'
    every: 'PT5M'
    query: '${lines} | where tostring(line.level) == "error" | summarize errors = count() | where errors >= 5'
  }
]
var onApp = [
  {
    name: 'attest-restarts'
    severity: 1
    metric: 'RestartCount'
    aggregation: 'Maximum'
    threshold: 2
  }
  {
    name: 'attest-two-replicas'
    severity: 0
    metric: 'Replicas'
    aggregation: 'Maximum'
    threshold: 1
  }
]

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(email)) {
  name: 'attest'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'attest'
    enabled: true
    emailReceivers: [
      {
        name: 'operators'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

resource app 'Microsoft.App/containerApps@2025-07-01' existing = {
  name: appName
}

resource logAlerts 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [for alert in onLog: {
  name: alert.name
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: alert.name
    severity: alert.severity
    enabled: true
    scopes: [
      workspaceId
    ]
    evaluationFrequency: alert.every
    windowSize: alert.window
    criteria: {
      allOf: [
        {
          query: alert.query
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    autoMitigate: true
    skipQueryValidation: true // the tables are there with the first line of the log, which may come after this
    actions: {
      actionGroups: empty(email) ? [] : [
        people.id
      ]
    }
  }
}]

resource appAlerts 'Microsoft.Insights/metricAlerts@2018-03-01' = [for alert in onApp: {
  name: alert.name
  location: 'global'
  tags: tags
  properties: {
    severity: alert.severity
    enabled: true
    scopes: [
      app.id
    ]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: alert.metric
          criterionType: 'StaticThresholdCriterion'
          metricName: alert.metric
          operator: 'GreaterThan'
          threshold: alert.threshold
          timeAggregation: alert.aggregation
        }
      ]
    }
    actions: empty(email) ? [] : [
      {
        actionGroupId: people.id
      }
    ]
  }
}]
