package main

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// layerWriter puts files into a layer and the folders above them before them.
type layerWriter struct {
	tar       *tar.Writer
	seen      map[string]bool
	without   []string // targets that are left out of trees, with all below them
	keepTimes bool
}

func (l *layerWriter) put(header *tar.Header, content io.Reader) error {
	if header.Name == "" {
		return nil
	}
	if parent := path.Dir(header.Name); parent != "." && !l.seen[parent] {
		if err := l.put(&tar.Header{Typeflag: tar.TypeDir, Name: parent, Mode: 0o755}, nil); err != nil {
			return err
		}
	}
	isDir := header.Typeflag == tar.TypeDir
	if isDir && l.seen[header.Name] {
		return nil
	}
	l.seen[header.Name] = true
	if isDir {
		header.Name += "/"
	}
	if !l.keepTimes || header.ModTime.IsZero() {
		header.ModTime = epoch
	}
	header.Format = tar.FormatPAX
	if err := l.tar.WriteHeader(header); err != nil {
		return err
	}
	if content == nil {
		return nil
	}
	_, err := io.Copy(l.tar, content)
	return err
}

// addTree adds all that lies below a folder: DIR[:TARGET].
func (l *layerWriter) addTree(argument string) error {
	root, target, _ := strings.Cut(argument, ":")
	var names []string
	err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		return err
	}
	sort.Strings(names)
	for _, name := range names {
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		place := clean(path.Join(target, relative))
		if relative == "." || l.leftOut(place) {
			continue
		}
		if err := l.addPath(name, place, -1); err != nil {
			return err
		}
	}
	return nil
}

func (l *layerWriter) leftOut(place string) bool {
	for _, without := range l.without {
		if place == without || strings.HasPrefix(place, without+"/") {
			return true
		}
	}
	return false
}

// addLink adds a symbolic link: TARGET:NAME.
func (l *layerWriter) addLink(argument string) error {
	target, name, found := strings.Cut(argument, ":")
	if !found {
		return fmt.Errorf("--link %s: TARGET:NAME is needed", argument)
	}
	return l.put(&tar.Header{Typeflag: tar.TypeSymlink, Name: clean(name), Linkname: target, Mode: 0o777}, nil)
}

func (l *layerWriter) addFile(argument string) error {
	parts := strings.Split(argument, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("--file %s: SOURCE:TARGET[:MODE] is needed", argument)
	}
	mode := int64(-1)
	if len(parts) == 3 {
		var err error
		if mode, err = strconv.ParseInt(parts[2], 8, 32); err != nil {
			return fmt.Errorf("--file %s: %w", argument, err)
		}
	}
	source, err := filepath.EvalSymlinks(parts[0])
	if err != nil {
		return err
	}
	return l.addPath(source, clean(parts[1]), mode)
}

// addPath adds one thing; a mode below zero means the thing's own. What is
// neither a file, a folder nor a symbolic link has no place in an image.
func (l *layerWriter) addPath(source, target string, mode int64) error {
	info, err := os.Lstat(source)
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(source); err != nil {
			return err
		}
	} else if !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name = target
	header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", ""
	if mode >= 0 {
		header.Mode = mode
	}
	if !info.Mode().IsRegular() {
		return l.put(header, nil)
	}
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	return l.put(header, file)
}
