# shellcheck shell=bash disable=SC2154
# Images, which are made of this machine's files.

# linked_files FILE... puts the options for the system's shared libraries that these are linked to into the array "files".
linked_files() {
  local library
  files=()
  while read -r library; do files+=(--file "$library:$library"); done < <(
    ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\/(usr\/)?lib/ {print $3} $1 ~ /^\/.*[^:]$/ {print $1}' | sort -u)
}

busybox_links() {  # puts the options for the links to busybox's programs into the array "links"
  local applet
  links=()
  for applet in $(/bin/busybox --list); do
    if [ "$applet" != busybox ]; then links+=(--link "/bin/busybox:/bin/$applet"); fi
  done
}

# make_image NAME OPTION... writes the archive that "up" and "load" put into the nodes.
make_image() {
  local name=$1
  shift
  archive=$dir/images/$(printf %s "$name" | tr -c 'A-Za-z0-9.\n' -).tar
  mkdir -p "$dir/images"
  "$dir/bin/kube-all" image --name "$name" --output "$archive" "$@"
}

make_images() {
  local links options archive
  make_image localhost/pause:1 --file "$dir/bin/pause:/pause:755" --entrypoint /pause
  busybox_links
  make_image localhost/busybox:1 --file /bin/busybox:/bin/busybox:755 "${links[@]}" --command sh
  if [ -n "$stock" ]; then make_stock_image "$stock"; fi
  if [ "$kueue" = yes ]; then make_kueue_image; fi
}

load() {
  local i
  for i in $(seq "$real"); do load_into "$i" "$@"; done
}

# image collects the programs and the shared libraries that they need.
image() {
  local arguments=() files file name='' archive target
  local -A taken=()
  while [ $# -gt 0 ]; do
    case $1 in
      --program)
        target=${2#*:}
        if [ "$target" = "$2" ]; then target=/usr/local/bin/$(basename "$2"); fi
        linked_files "${2%%:*}"
        for file in "${2%%:*}:$target:755" "${files[@]}"; do
          if [ "$file" = --file ] || [ -n "${taken[$file]:-}" ]; then continue; fi
          taken[$file]=yes
          arguments+=(--file "$file")
        done
        ;;
      --name) name=$2 ;;
      --keep-times)
        arguments+=("$1")
        shift
        continue
        ;;
      *) arguments+=("$1" "${2:?a value is needed for $1}") ;;
    esac
    shift 2
  done
  [ -n "$name" ] || die "image: --name is needed"
  make_image "$name" "${arguments[@]}"
  load "$archive"
}

# python_files [LIBRARY...] puts what Debian's Python and those libraries are made of, and shells, into the array
# "options"; /bin/bash is what tf-spawner's command files run under. Python's compiled files are good for sources of the same time only, so that files keep theirs.
python_files() {
  local modules=/usr/lib/python3.11 links files
  busybox_links
  linked_files /usr/bin/python3.11 /bin/bash "$modules"/lib-dynload/*.so "$@"
  printf 'root:x:0:0:root:/root:/bin/sh\n' >"$dir/images/passwd"
  printf 'root:x:0:\n' >"$dir/images/group"
  options=(--keep-times --root "$modules:$modules" --without "$modules/test" --without "$modules/config-3.11-x86_64-linux-gnu"
    --file /usr/bin/python3.11:/usr/bin/python3.11 --link python3.11:/usr/bin/python3 --link python3.11:/usr/bin/python
    --file /bin/busybox:/bin/busybox:755 --link /bin/busybox:/usr/bin/env "${links[@]}" --file /bin/bash:/bin/bash:755
    "${files[@]}" --file "$dir/images/passwd:/etc/passwd" --file "$dir/images/group:/etc/group"
    --env PYTHONUNBUFFERED=1 --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --command python3)
}

# tensorflow_files adds the TensorFlow 2.15 of tools/install-deps, where Debian's Python looks for what is not Debian's.
tensorflow_files() {
  local packages target=/usr/local/lib/python3.11/dist-packages libraries left_out
  packages=$("$here/../../../tools/install-deps" --venv tensorflow-2.15)/lib/python3.11/site-packages
  [ -d "$packages/tensorflow" ] || die "no TensorFlow in $packages: tools/install-deps kubernetes-all"
  mapfile -t libraries < <(find "$packages" -path "$packages/clang" -prune -o -type f -name '*.so*' -print)
  python_files "${libraries[@]}"
  printf '#!/usr/bin/python3\nfrom tensorboard.main import run_main\nrun_main()\n' >"$dir/images/tensorboard"
  options+=(--root "$packages:$target" --file "$dir/images/tensorboard:/usr/local/bin/tensorboard:755")
  for left_out in clang pip tensorflow/include; do options+=(--without "$target/$left_out"); done
}

# make_stock_image NAME makes one of the images that tests share.
make_stock_image() {
  mkdir -p "$dir/images"
  case $1 in
    python)
      python_files
      make_image localhost/gangrun-python:1 "${options[@]}"
      ;;
    tensorflow)
      tensorflow_files
      make_image localhost/gangrun-tensorflow:2.15 "${options[@]}"
      ;;
    *) die "no image '$1'; there are: python, tensorflow" ;;
  esac
}

stock_image() {
  local options archive
  make_stock_image "$1"
  load "$archive"
}
