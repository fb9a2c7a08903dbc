package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fileSettles is how long a file must stay unchanged to count as written: editors
// write in several steps.
const fileSettles = 150 * time.Millisecond

// followFile calls changed at the start and whenever a file may have changed, been
// replaced or appeared, until ctx ends.
func followFile(ctx context.Context, path string, changed func()) error {
	return followFiles(ctx, []string{path}, func() []string {
		changed()
		return []string{path}
	})
}

// followFiles is followFile for several files. changed returns the files to follow
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
		case _, open := <-watcher.Errors: // something may have been missed
			if !open {
				return nil
			}
			settled.Reset(fileSettles)
		case <-settled.C:
			_ = files.follow(changed()) // the other files are followed all the same
		}
	}
}

// followedFiles are the followed files, each with its target if it is a link, as are
// secrets mounted into a container.
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
		// The folder, as a replaced file is a new one.
		if failed := f.watcher.Add(filepath.Dir(path)); failed != nil {
			err = errors.Join(err, fmt.Errorf("watching the folder of %s: %w", path, failed))
		}
		f.moved(path)
	}
	return err
}

// concern reports whether a change of name may change a file.
func (f *followedFiles) concern(name string) (concerned bool) {
	name = filepath.Clean(name) // fsnotify puts ./ before a file of the working directory
	for path, target := range f.targets {
		concerned = name == path || name == target || f.moved(path) || concerned
	}
	return concerned
}

// moved reports whether a path leads to another file than before, and follows that.
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
