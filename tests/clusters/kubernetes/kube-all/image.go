package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const imageUsage = `usage: image --name REFERENCE --output FILE [--root DIR[:TARGET]]... [--without TARGET]...
             [--file SOURCE:TARGET[:MODE]]... [--link TARGET:NAME]... [--entrypoint WORD]... [--command WORD]...
             [--env NAME=VALUE]... [--workdir DIR] [--user USER] [--keep-times]

Writes an OCI image of one layer as a tar archive, which "ctr images import"
and other tools take. There is always a /tmp. Everything in the layer belongs
to root and, without --keep-times, carries the same time, so equal contents
make an equal image.
`

// words is a flag that may be given several times; each is taken whole.
type words []string

func (w *words) String() string         { return strings.Join(*w, " ") }
func (w *words) Set(value string) error { *w = append(*w, value); return nil }

// imageOrder is what an image is made of, and where its archive goes.
type imageOrder struct {
	name, output, workdir, user                            string
	roots, without, files, links, entrypoint, command, env words
	keepTimes                                              bool
}

func imageMain(arguments []string) error {
	var order imageOrder
	flags := flag.NewFlagSet("image", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, imageUsage) }
	flags.StringVar(&order.name, "name", "", "the image's reference")
	flags.StringVar(&order.output, "output", "", "the archive")
	flags.StringVar(&order.workdir, "workdir", "/", "the working directory")
	flags.StringVar(&order.user, "user", "", "the user")
	flags.Var(&order.roots, "root", "DIR[:TARGET], a folder whose contents become those of the image's root or target")
	flags.Var(&order.without, "without", "a target that is left out of the folders, with all below it")
	flags.Var(&order.files, "file", "SOURCE:TARGET[:MODE]")
	flags.Var(&order.links, "link", "TARGET:NAME, a symbolic link")
	flags.Var(&order.entrypoint, "entrypoint", "a word of the entry point")
	flags.Var(&order.command, "command", "a word of the default arguments")
	flags.Var(&order.env, "env", "NAME=VALUE")
	flags.BoolVar(&order.keepTimes, "keep-times", false, "files keep their times")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if order.name == "" || order.output == "" || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("--name and --output are needed")
	}
	if len(order.env) == 0 {
		order.env = words{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	return order.write()
}

// write spools the layer to a file of its own first, as it may be large and
// its digest and length have to be known before it is put into the archive.
func (o *imageOrder) write() error {
	spool, err := os.CreateTemp(filepath.Dir(o.output), ".layer-*")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	digest := sha256.New()
	if err := o.writeLayer(io.MultiWriter(spool, digest)); err != nil {
		return err
	}
	size, err := spool.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return o.writeArchive(spool, size, hex.EncodeToString(digest.Sum(nil)))
}

func (o *imageOrder) writeLayer(to io.Writer) error {
	layer := &layerWriter{tar: tar.NewWriter(to), seen: map[string]bool{}, keepTimes: o.keepTimes}
	for _, target := range o.without {
		layer.without = append(layer.without, clean(target))
	}
	for _, kind := range []struct {
		add       func(string) error
		arguments words
	}{{layer.addTree, o.roots}, {layer.addFile, o.files}, {layer.addLink, o.links}} {
		for _, argument := range kind.arguments {
			if err := kind.add(argument); err != nil {
				return err
			}
		}
	}
	if err := layer.put(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp", Mode: 0o1777}, nil); err != nil {
		return err
	}
	return layer.tar.Close()
}

type object = map[string]any

func (o *imageOrder) configText(layerDigest string) []byte {
	config := object{"Env": o.env, "WorkingDir": o.workdir}
	if len(o.entrypoint) > 0 {
		config["Entrypoint"] = o.entrypoint
	}
	if len(o.command) > 0 {
		config["Cmd"] = o.command
	}
	if o.user != "" {
		config["User"] = o.user
	}
	return mustJSON(object{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"created":      epoch.Format(time.RFC3339),
		"config":       config,
		"rootfs":       object{"type": "layers", "diff_ids": []string{"sha256:" + layerDigest}},
	})
}

func (o *imageOrder) writeArchive(layer io.Reader, size int64, layerDigest string) error {
	configText := o.configText(layerDigest)
	manifest := mustJSON(object{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.manifest.v1+json",
		"config":        descriptor("application/vnd.oci.image.config.v1+json", configText),
		"layers": []object{{"mediaType": "application/vnd.oci.image.layer.v1.tar",
			"digest": "sha256:" + layerDigest, "size": size}},
	})
	entry := descriptor("application/vnd.oci.image.manifest.v1+json", manifest)
	entry["platform"] = object{"architecture": runtime.GOARCH, "os": "linux"}
	entry["annotations"] = object{"io.containerd.image.name": o.name, "org.opencontainers.image.ref.name": o.name}
	index := mustJSON(object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []object{entry}})

	file, err := os.Create(o.output)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	put := func(name string, text []byte) error {
		return putEntry(archive, name, int64(len(text)), bytes.NewReader(text))
	}
	if err := errors.Join(
		put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)),
		put("index.json", index),
		put("blobs/sha256/"+sum(manifest), manifest),
		put("blobs/sha256/"+sum(configText), configText),
		putEntry(archive, "blobs/sha256/"+layerDigest, size, layer),
		archive.Close(),
	); err != nil {
		return err
	}
	return file.Close()
}

var epoch = time.Unix(0, 0).UTC()

func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps of strings and numbers always marshal
	}
	return text
}

func sum(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

func descriptor(mediaType string, text []byte) map[string]any {
	return map[string]any{"mediaType": mediaType, "digest": "sha256:" + sum(text), "size": len(text)}
}

func putEntry(archive *tar.Writer, name string, size int64, content io.Reader) error {
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: epoch}); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}
