# Fetches and unpacks the package of an application. The arguments are its address, its SHA-256, the name of its file, and its
# address without credentials.
address=$1 wanted=$2 name=$3 shown=$4
package=/elasticjob/package file=/elasticjob/fetched

fail() {
    printf %s "'$shown' $1" >/dev/termination-log
    exit 1
}

# An archive may have the name of a compressed one and be none: `tar -cvf job.tar.gz job`.
unpack() {
    said=$(tar "$@" "$file" -C "$package" 2>&1) || tar -xf "$file" -C "$package" 2>/dev/null || fail "cannot be unpacked: $said"
}

mkdir -p "$package" || fail "cannot be kept"
if command -v curl >/dev/null; then
    said=$(curl -fsSL --retry 3 -o "$file" "$address" 2>&1) || fail "cannot be fetched: $said"
elif command -v wget >/dev/null; then
    said=$(wget -q -O "$file" "$address" 2>&1) || fail "cannot be fetched: $said"
else
    fail "cannot be fetched: the image of the application has neither curl nor wget"
fi
found=$(sha256sum "$file") || fail "cannot be checked: the image of the application needs sha256sum"
found=${found%% *}
[ "$found" = "$wanted" ] || fail "has the SHA-256 $found, and appURL wants $wanted: it is not run"
case $name in
    # Not every tar finds the compression by itself.
    *.tar) unpack -xf ;;
    *.tar.gz | *.tgz) unpack -xzf ;;
    *.tar.bz2 | *.tbz2) unpack -xjf ;;
    *.tar.xz | *.txz) unpack -xJf ;;
    *.tar.zst | *.tzst) unpack --zstd -xf ;;
    *.tar.Z) unpack -xZf ;;
    *.zip) said=$(unzip -q "$file" -d "$package" 2>&1) || fail "cannot be unpacked: $said" ;;
    *) { mv "$file" "$package/$name" && chmod 755 "$package/$name"; } || fail "cannot be made a program" ;;
esac
rm -f "$file"
