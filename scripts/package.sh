#!/usr/bin/env bash
# Makes of each crate what a registry would be handed, in the order in which they depend on each other: `cargo publish
# --dry-run`. With --verify each is built from that alone, which takes long. Nothing is uploaded. It is tried in a copy of what
# git knows, in which crates may be published: here `publish = false` keeps anybody from doing so by mistake, and cargo from
# trying.
set -euo pipefail
cd "$(dirname "$0")/.."

verify=(--no-verify)
case "${1:-}" in
    "") ;;
    --verify) verify=() ;;
    *) echo "usage: scripts/package.sh [--verify]" >&2; exit 2 ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
copy=$scratch/source
mkdir "$copy"
git ls-files -z | xargs -0 cp -d --parents --target-directory "$copy"
sed -i 's/^publish = false$/publish = true/' "$copy/Cargo.toml"

# Not handed out: what measures, plants and checks.
apart=(--exclude proofload-bench --exclude proofload-planted --exclude xtask)
target=$scratch/target
if ! (cd "$copy" && cargo publish --dry-run --workspace "${apart[@]}" --locked --allow-dirty "${verify[@]}" \
    --target-dir "$target") >"$scratch/log" 2>&1; then
    cat "$scratch/log" >&2
    exit 1
fi

failed=0
count=0
for manifest in crates/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
    # cargo keeps the archives of a dry run in one of these.
    archive=$(find "$target/package" -name "$name-[0-9]*.crate" | head -n 1)
    if [[ -z $archive ]]; then
        echo "package: $name was not made" >&2
        failed=1
        continue
    fi
    count=$((count + 1))
    # A registry takes 10 MiB at most.
    bytes=$(stat -c %s "$archive")
    if ((bytes > 10 * 1024 * 1024)); then
        echo "package: $name has $bytes bytes, and 10 MiB are the most" >&2
        failed=1
    fi
    of_archive=$(tar -xzOf "$archive" --wildcards "$name-*/Cargo.toml")
    for key in description license readme; do
        if ! grep -q "^$key = \"..*\"" <<<"$of_archive"; then
            echo "package: $name says no $key" >&2
            failed=1
        fi
    done
done
((failed)) || echo "package: $count crates are whole"
exit "$failed"
