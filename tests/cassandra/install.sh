#!/usr/bin/env bash
# Installs the jars of a node of Apache Cassandra, once for each version of it, into target/cassandra/lib. The tests start
# nodes from there. Needs Maven (mvn) and a JDK, and for the first run a registry of Java's packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

VERSION=5.0.9
PLUGIN=3.8.1
DIR=target/cassandra

if [[ "$(cat "$DIR/installed" 2>/dev/null)" == "$VERSION" ]]; then
    exit
fi
mkdir -p target
# An interrupted run leaves no directory that looks whole: the jars and their marker appear together.
stage=$(mktemp -d target/cassandra.XXXXXX)
trap 'rm -rf "$stage"' EXIT
mvn -q -B -Dstyle.color=never -f tests/cassandra/pom.xml "-Dcassandra.version=$VERSION" \
    "org.apache.maven.plugins:maven-dependency-plugin:$PLUGIN:copy-dependencies" \
    -DincludeScope=runtime "-DoutputDirectory=$PWD/$stage/lib"
echo "$VERSION" >"$stage/installed"
chmod 755 "$stage"
rm -rf "$DIR"
mv "$stage" "$DIR"
