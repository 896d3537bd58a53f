#!/bin/sh
# Consent that the app's identity reads who belongs to which group. Needs a privileged role administrator of the tenant. The long id is Graph's own in every tenant.
set -eu
graph=$(az ad sp show --id 00000003-0000-0000-c000-000000000000 --query id -o tsv)
role=$(az ad sp show --id 00000003-0000-0000-c000-000000000000 --query "appRoles[?value=='GroupMember.Read.All'].id" -o tsv)
az rest --method POST --url "https://graph.microsoft.com/v1.0/servicePrincipals/$IDENTITY_PRINCIPAL_ID/appRoleAssignments" \
  --body "{\"principalId\":\"$IDENTITY_PRINCIPAL_ID\",\"resourceId\":\"$graph\",\"appRoleId\":\"$role\"}"
