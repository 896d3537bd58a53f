#!/bin/sh
# Start the app again after stop.sh.
set -eu
[ -n "${APP_NAME:-}" ] || exit 0
id=$(az containerapp list -g "$AZURE_RESOURCE_GROUP" --query "[?name=='$APP_NAME'].id" -o tsv)
[ -n "$id" ] || exit 0
az rest --method POST --url "https://management.azure.com${id}/start?api-version=2025-07-01"
echo "https://$APP_HOST/healthz answers once it is up"
