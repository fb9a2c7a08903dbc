package command

import (
	"context"
	"errors"
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
	return followFiles(ctx, []string{path}, func() []string {
		changed()
		return []string{path}
	})
}

// followFiles is followFile for several files. changed returns those to follow
// from then on.
func followFiles(ctx context.Context, paths []string, changed func() []string) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching files: %w", err)
	}
	defer watcher.Close()
	files := &followedFiles{watcher: watcher}
	if err := files.follow(paths); err != nil {
		return err
	}
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
			if files.concern(event.Name) {
				settled.Reset(fileSettles)
			}
		case _, open := <-watcher.Errors: // something may have gone unnoticed
			if !open {
				return nil
			}
			settled.Reset(fileSettles)
		case <-settled.C:
			_ = files.follow(changed()) // what names a file in a folder that is not there is followed too
		}
	}
}

// followedFiles are the files that are followed, each with what it leads to where
// it is a link, as secrets that are mounted into a container are.
type followedFiles struct {
	targets map[string]string
	watcher *fsnotify.Watcher
}

// follow follows these files and no others.
func (f *followedFiles) follow(paths []string) (err error) {
	before := f.targets
	f.targets = make(map[string]string, len(paths))
	for _, path := range paths {
		path = filepath.Clean(path)
		target, known := before[path]
		if f.targets[path] = target; known {
			continue
		}
		// The folder, not the file: what replaces a file is another one.
		if failed := f.watcher.Add(filepath.Dir(path)); failed != nil {
			err = errors.Join(err, fmt.Errorf("watching the folder of %s: %w", path, failed))
		}
		f.moved(path)
	}
	return err
}

// concern reports whether something that happened to name may change a file.
func (f *followedFiles) concern(name string) (concerned bool) {
	for path, target := range f.targets {
		concerned = name == path || name == target || f.moved(path) || concerned
	}
	return concerned
}

// moved reports whether a path leads to another file than before, and has that
// followed too.
func (f *followedFiles) moved(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || target == f.targets[path] {
		return false
	}
	f.targets[path] = target
	if folder := filepath.Dir(target); folder != filepath.Dir(path) {
		_ = f.watcher.Add(folder) // the link itself is followed in any case
	}
	return true
}
