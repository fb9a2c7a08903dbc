package config

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"time"

	"tillwatch/api"
)

// lookEvery is how often followed files are looked at. A change counts once two looks in a row show the same: editors
// write in several steps.
const lookEvery = 900 * time.Millisecond

// Follow calls read at the start, and within 2 s after one of the files was written, replaced or has appeared, until
// ctx ends. read returns the files to follow from then on.
func Follow(ctx context.Context, paths []string, read func() []string) {
	taken, before := looked(paths), looked(paths)
	for paths = read(); api.Sleep(ctx, lookEvery) == nil; {
		now := looked(paths)
		if slices.EqualFunc(now, before, same) && !slices.EqualFunc(now, taken, same) {
			taken = now
			paths = read()
		}
		before = now
	}
}

// looked are the files as they are, through links, as to secrets mounted into a container; nil for one that is not
// there.
func looked(paths []string) (files []fs.FileInfo) {
	for _, path := range paths {
		file, _ := os.Stat(path)
		files = append(files, file)
	}
	return files
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
