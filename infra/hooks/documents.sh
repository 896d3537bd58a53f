#!/bin/sh
# Put the files of the folder DOCUMENTS onto the share that the app sees as /documents.
set -eu
az storage file upload-batch --account-name "$STORAGE_NAME" --auth-mode key --destination "$DOCUMENTS_SHARE" --source "${DOCUMENTS:?set DOCUMENTS to a folder}"
