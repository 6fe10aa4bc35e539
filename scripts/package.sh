#!/usr/bin/env bash
# Makes of each crate what a registry would be handed, in target/package: the same as `cargo publish --dry-run` for all of them
# in order, but that nothing is asked of a registry's owners. With --verify each is built from that alone, which takes long.
# Nothing is uploaded: `publish = false` in Cargo.toml sees to that, until somebody means it.
set -euo pipefail
cd "$(dirname "$0")/.."

verify=(--no-verify)
case "${1:-}" in
    "") ;;
    --verify) verify=() ;;
    *) echo "usage: scripts/package.sh [--verify]" >&2; exit 2 ;;
esac

# Not handed out: what measures, plants and checks.
apart=(--exclude proofload-bench --exclude proofload-planted --exclude xtask)
cargo package --workspace "${apart[@]}" --locked --allow-dirty "${verify[@]}"

failed=0
for manifest in crates/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
    archive=$(ls "${CARGO_TARGET_DIR:-target}/package/$name"-[0-9]*.crate 2>/dev/null | head -n 1 || true)
    if [[ -z $archive ]]; then
        echo "package: $name was not made" >&2
        failed=1
        continue
    fi
    # A registry takes 10 MiB at most.
    bytes=$(stat -c %s "$archive")
    if ((bytes > 10 * 1024 * 1024)); then
        echo "package: $archive has $bytes bytes, and 10 MiB are the most" >&2
        failed=1
    fi
    manifest_of=$(tar -xzOf "$archive" --wildcards "*/Cargo.toml" | head -c 100000)
    for key in description license; do
        if ! grep -q "^$key = \"..*\"" <<<"$manifest_of"; then
            echo "package: $archive says no $key" >&2
            failed=1
        fi
    done
done
((failed == 0)) && echo "package: $(ls -d crates/*/ | wc -l) crates are whole"
exit "$failed"
