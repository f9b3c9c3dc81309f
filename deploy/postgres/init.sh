#!/bin/sh
# Runs once, when the volume of docker-compose.yaml's `postgres` is empty: memgate's role and database. The role is no
# superuser, so that row-level security binds it; only a superuser may create the extension.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
\set password `echo "$POSTGRES_PASSWORD"`
CREATE ROLE memgate LOGIN PASSWORD :'password';
CREATE DATABASE memgate OWNER memgate ENCODING 'UTF8' TEMPLATE template0;
\connect memgate
CREATE EXTENSION vector;
SQL
