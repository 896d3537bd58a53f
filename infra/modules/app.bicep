// The app: one replica, since its home has one server. More of them wait for a shared database; more processes in the one replica do not (`workers`).
param name string
param location string
param tags object
param environmentId string
param identityId string
param clientId string
param registryServer string
param image string
param cpu string
param memory string
param workers int
param company string
param host string
param botType string
param botAppId string
param directory string

@description('Address of the database; empty: record, state and documents lie in the home')
param databaseUrl string
param openaiEndpoint string
param chatDeployment string
param embeddingDeployment string
param searchEndpoint string
param safetyEndpoint string
param languageEndpoint string
param checkpointsSecretUrl string
param botSecretUrl string
param apiKeysSecretUrl string

@description('Application that reviewers sign in with; empty: they come by a link')
param signInClientId string
param signInSecretUrl string
param signInReaders string
param signInReviewers string
param signInAdministrators string
param reviewSees string

@description('Something with a shell that may give the mounted folders to the user of the app')
param shellImage string = 'mcr.microsoft.com/azurelinux/base/core:3.0'

var port = 3978
var secretsAlways = [
  {
    name: 'checkpoints'
    keyVaultUrl: checkpointsSecretUrl
    identity: identityId
  }
]
var secretsOfBot = empty(botSecretUrl) ? [] : [
  {
    name: 'bot-app-password'
    keyVaultUrl: botSecretUrl
    identity: identityId
  }
]
var secretsOfApi = empty(apiKeysSecretUrl) ? [] : [
  {
    name: 'api-keys'
    keyVaultUrl: apiKeysSecretUrl
    identity: identityId
  }
]
var secretsOfSignIn = empty(signInSecretUrl) ? [] : [
  {
    name: 'sign-in-secret'
    keyVaultUrl: signInSecretUrl
    identity: identityId
  }
]
// Where there is a database no server makes keys: they are put there once, before the first starts, whole or not at all.
var makeKeys = empty(databaseUrl) ? '' : ' && umask 077 && for key in ledger ledger-signing; do [ -e /keys/$key.key ] || { od -An -v -tx1 -N32 /dev/urandom | tr -d " \\n" > /keys/.$key.$$ && chown 10001:10001 /keys/.$key.$$ && mv -n /keys/.$key.$$ /keys/$key.key; }; done'
var tables = empty(databaseUrl) ? [] : [
  {
    name: 'tables'
    image: image
    args: [
      'database'
      'upgrade'
    ]
    env: concat(settings, settingsOfBot, settingsOfDatabase)
    resources: {
      cpu: json('0.25')
      memory: '0.5Gi'
    }
  }
]
var settingsOfDatabase = empty(databaseUrl) ? [] : [
  {
    name: 'ATTEST_DATABASE_URL'
    value: databaseUrl
  }
  {
    name: 'ATTEST_DATABASE_ENTRA'
    value: 'on'
  }
]
var settings = [
  {
    name: 'ATTEST_COMPANY'
    value: company
  }
  {
    name: 'ATTEST_LOCAL'
    value: 'off'
  }
  {
    name: 'ATTEST_PUBLIC_URL'
    value: 'https://${host}'
  }
  {
    name: 'ATTEST_LOG_FORMAT'
    value: 'json'
  }
  {
    name: 'ATTEST_IDENTITY_CLIENT_ID'
    value: clientId
  }
  {
    name: 'AZURE_TOKEN_CREDENTIALS'
    value: 'ManagedIdentityCredential'
  }
  {
    name: 'ATTEST_BOT_APP_TYPE'
    value: botType
  }
  {
    name: 'ATTEST_BOT_APP_ID'
    value: botAppId
  }
  {
    name: 'ATTEST_BOT_TENANT_ID'
    value: subscription().tenantId
  }
  {
    name: 'ATTEST_SERVICE_URL_HOSTS'
    value: 'smba.trafficmanager.net'
  }
  {
    name: 'ATTEST_DIRECTORY'
    value: directory
  }
  {
    name: 'ATTEST_GENERATOR'
    value: 'openai'
  }
  {
    name: 'ATTEST_GRADER'
    value: 'model'
  }
  {
    name: 'ATTEST_OPENAI_BASE_URL'
    value: openaiEndpoint
  }
  {
    name: 'ATTEST_OPENAI_MODEL'
    value: chatDeployment
  }
  {
    name: 'ATTEST_OPENAI_API'
    value: 'responses'
  }
  {
    name: 'ATTEST_PSEUDONYMS'
    value: 'on'
  }
  {
    name: 'ATTEST_EMBEDDER'
    value: 'openai'
  }
  {
    name: 'ATTEST_EMBEDDING_MODEL'
    value: embeddingDeployment
  }
  {
    name: 'ATTEST_SEARCH'
    value: 'azure'
  }
  {
    name: 'ATTEST_SEARCH_ENDPOINT'
    value: searchEndpoint
  }
  {
    name: 'ATTEST_SEARCH_ALIAS'
    value: 'on'
  }
  {
    name: 'ATTEST_SEARCH_SEMANTIC'
    value: 'on'
  }
  {
    name: 'ATTEST_SCREEN'
    value: 'content_safety'
  }
  {
    name: 'ATTEST_CONTENT_SAFETY_ENDPOINT'
    value: safetyEndpoint
  }
  {
    name: 'ATTEST_LANGUAGE_ENDPOINT'
    value: languageEndpoint
  }
  {
    name: 'ATTEST_ENTITIES'
    value: 'language'
  }
  {
    name: 'ATTEST_SUMMARIZER'
    value: 'language'
  }
  {
    name: 'ATTEST_PII'
    value: 'language'
  }
  {
    name: 'ATTEST_LEDGER_CHECKPOINTS'
    secretRef: 'checkpoints'
  }
]
var settingsOfBot = empty(botSecretUrl) ? [] : [
  {
    name: 'ATTEST_BOT_APP_PASSWORD'
    secretRef: 'bot-app-password'
  }
]
var settingsOfApi = empty(apiKeysSecretUrl) ? [] : [
  {
    name: 'ATTEST_API_KEYS'
    secretRef: 'api-keys'
  }
]
var settingsOfSignIn = empty(signInClientId) ? [] : [
  {
    name: 'ATTEST_SIGNIN_ISSUER'
    value: '${environment().authentication.loginEndpoint}${subscription().tenantId}/v2.0'
  }
  {
    name: 'ATTEST_SIGNIN_CLIENT_ID'
    value: signInClientId
  }
  {
    name: 'ATTEST_SIGNIN_READERS'
    value: signInReaders
  }
  {
    name: 'ATTEST_SIGNIN_REVIEWERS'
    value: signInReviewers
  }
  {
    name: 'ATTEST_SIGNIN_ADMINISTRATORS'
    value: signInAdministrators
  }
  {
    name: 'ATTEST_REVIEW_SEES'
    value: reviewSees
  }
]
var settingsOfSignInSecret = empty(signInSecretUrl) ? [] : [
  {
    name: 'ATTEST_SIGNIN_CLIENT_SECRET'
    secretRef: 'sign-in-secret'
  }
]
var mounts = [
  {
    volumeName: 'home'
    mountPath: '/data'
  }
  {
    volumeName: 'keys'
    mountPath: '/keys'
  }
]

resource app 'Microsoft.App/containerApps@2025-07-01' = {
  name: name
  location: location
  tags: tags
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    environmentId: environmentId
    workloadProfileName: 'Consumption'
    configuration: {
      activeRevisionsMode: 'Single'
      ingress: {
        external: true
        targetPort: port
        transport: 'http'
        allowInsecure: false
      }
      registries: [
        {
          server: registryServer
          identity: identityId
        }
      ]
      secrets: concat(secretsAlways, secretsOfBot, secretsOfApi, secretsOfSignIn)
    }
    template: {
      terminationGracePeriodSeconds: 120
      initContainers: concat([
        {
          name: 'folders'
          image: shellImage
          command: [
            '/bin/sh'
            '-c'
            'chown 10001:10001 /data /keys && chmod 700 /data /keys${makeKeys}'
          ]
          resources: {
            cpu: json('0.25')
            memory: '0.5Gi'
          }
          volumeMounts: mounts
        }
      ], tables)
      containers: [
        {
          name: 'attest'
          image: image
          args: [
            'serve'
            '--workers'
            string(workers)
          ]
          env: concat(settings, settingsOfBot, settingsOfDatabase, settingsOfApi, settingsOfSignIn, settingsOfSignInSecret)
          resources: {
            cpu: json(cpu)
            memory: memory
          }
          volumeMounts: concat(mounts, [
            {
              volumeName: 'documents'
              mountPath: '/documents'
            }
          ])
          // not /readyz: it is 503 while the knowledge base is empty, as it is at first, and where a service is away. This is the only replica: to take it
          // out would leave people without the words that say so.
          probes: [
            {
              type: 'Startup'
              httpGet: {
                path: '/healthz'
                port: port
              }
              periodSeconds: 30 // a large home takes minutes to open: five of them
              timeoutSeconds: 5
              failureThreshold: 10
            }
            {
              type: 'Liveness'
              httpGet: {
                path: '/healthz'
                port: port
              }
              periodSeconds: 30
              timeoutSeconds: 5
              failureThreshold: 3
            }
            {
              type: 'Readiness'
              httpGet: {
                path: '/healthz'
                port: port
              }
              periodSeconds: 30
              timeoutSeconds: 10
              failureThreshold: 3
            }
          ]
        }
      ]
      scale: {
        minReplicas: 1
        maxReplicas: 1
      }
      volumes: [
        {
          name: 'home'
          storageType: 'NfsAzureFile'
          storageName: 'home'
        }
        {
          name: 'keys'
          storageType: 'NfsAzureFile'
          storageName: 'keys'
        }
        {
          name: 'documents'
          storageType: 'AzureFile'
          storageName: 'documents'
        }
      ]
    }
  }
}
