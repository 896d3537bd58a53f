#!/bin/sh
# Make the role that servers run as, once, when the database is made. Its rights come from `attest database upgrade --worker attest`.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\set secret `cat "$SERVERS_PASSWORD_FILE"`
CREATE ROLE attest LOGIN PASSWORD :'secret';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
