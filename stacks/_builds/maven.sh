#!/bin/sh
# maven.sh [-pl MODULE]: packages what is in this folder, and holds every library that Maven brought for it to run with
# against libraries.sha256. Maven asks the server that a file came from for its checksum (--strict-checksums, in
# .mvn/maven.config); what the file was when the versions were pinned, that list alone knows.
#
# After a change of versions: remove build, package, look at what came, and write the list anew, here:
#   (cd build && find . -name '*.jar' '(' -path '*lib/*' -o -path './bin/*' ')' | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum) >libraries.sha256
set -eu

mvn -B -q "$@" package

list=$PWD/libraries.sha256
cd build
find . -name '*.jar' '(' -path '*lib/*' -o -path './bin/*' ')' | sed 's|^\./||' | while read -r library; do
    grep -q "^[0-9a-f]\{64\}  $library\$" "$list" || {
        echo "maven.sh: $list has no $library; where an earlier version left it, remove $PWD and build again" >&2
        exit 1
    }
done
# Of a single module not all are there.
sha256sum --check --strict --quiet --ignore-missing "$list" || {
    echo "maven.sh: a library is not the one that $list has; remove it from $PWD and from Maven's own repository" >&2
    exit 1
}
