#!/bin/sh
# Build the image in the registry, from this folder, and note it for the next `azd provision`. No Docker is needed here.
set -eu
tag=$(git rev-parse --short=12 HEAD 2>/dev/null || date -u +%Y%m%d%H%M%S)
az acr build --registry "$AZURE_CONTAINER_REGISTRY_NAME" --image "attest:$tag" --file infra/Dockerfile .
azd env set CONTAINER_IMAGE "$AZURE_CONTAINER_REGISTRY_ENDPOINT/attest:$tag"
