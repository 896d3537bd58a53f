#!/bin/sh
# Make the app package for Teams, attest-teams.zip, of the bot and the host that were deployed. PACKAGE_VERSION must be raised with every upload.
set -eu
python3 tools/teams_package.py --app-id "$TEAMS_APP_ID" --domain "$APP_HOST" --developer "${DEVELOPER:-Your organisation}" --version "${PACKAGE_VERSION:-1.0.0}"
