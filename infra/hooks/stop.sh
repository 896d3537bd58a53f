#!/bin/sh
# Stop the app before it is changed, if there is one: a new revision would start beside the old one, and both would write to one home.
set -eu
[ -n "${APP_NAME:-}" ] || exit 0
[ "$(az group exists -n "$AZURE_RESOURCE_GROUP")" = true ] || exit 0
id=$(az containerapp list -g "$AZURE_RESOURCE_GROUP" --query "[?name=='$APP_NAME'].id" -o tsv)
[ -n "$id" ] || exit 0
az rest --method POST --url "https://management.azure.com${id}/stop?api-version=2025-07-01"
tries=0
until [ "$(az containerapp show --ids "$id" --query properties.runningStatus -o tsv)" = Stopped ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 30 ] || { echo "the app still runs after five minutes; nothing was changed" >&2; exit 1; }
  sleep 10
done
sleep "${DRAIN_SECONDS:-60}"  # turns in hand are finished before the process ends
