package command

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fileSettles is how long a file has to be left alone until it counts as written:
// editors write in several steps.
const fileSettles = 150 * time.Millisecond

// followFile calls changed whenever a file may hold something else than before,
// also when it is replaced or appears, and once at the start, until ctx ends.
func followFile(ctx context.Context, path string, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching %s: %w", path, err)
	}
	defer watcher.Close()
	f := &followedFile{path: filepath.Clean(path), watcher: watcher}
	// The folder, not the file: what replaces a file is another one.
	if err := watcher.Add(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("watching the folder of %s: %w", path, err)
	}
	f.moved()
	settled := time.NewTimer(0)
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-watcher.Events:
			if !open {
				return nil
			}
			if event.Name == f.path || event.Name == f.target || f.moved() {
				settled.Reset(fileSettles)
			}
		case _, open := <-watcher.Errors: // something may have gone unnoticed
			if !open {
				return nil
			}
			settled.Reset(fileSettles)
		case <-settled.C:
			changed()
		}
	}
}

// followedFile is a file that is followed, and what it leads to where it is a
// link, as secrets that are mounted into a container are.
type followedFile struct {
	path, target string
	watcher      *fsnotify.Watcher
}

// moved reports whether the path leads to another file than before, and has that
// followed too.
func (f *followedFile) moved() bool {
	target, err := filepath.EvalSymlinks(f.path)
	if err != nil || target == f.target {
		return false
	}
	f.target = target
	if folder := filepath.Dir(target); folder != filepath.Dir(f.path) {
		_ = f.watcher.Add(folder) // the link itself is followed in any case
	}
	return true
}
