package config

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAFollowedFileIsReadWithinTwoSecondsOfAChange(t *testing.T) {
	write := func(t *testing.T, path, content string) { writeFile(t, path, content) }
	for name, change := range map[string]func(t *testing.T, path string){
		"written": func(t *testing.T, path string) { write(t, path, "new one") },
		"replaced": func(t *testing.T, path string) {
			write(t, path+".new", "new one")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
		"another target of its link": func(t *testing.T, path string) {
			write(t, path+".target", "new one")
			if err := os.Symlink(path+".target", path+".link"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".link", path); err != nil {
				t.Fatal(err)
			}
		},
		"appeared again": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			write(t, path, "new one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, filepath.Join(t.TempDir(), "key"), "old")
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				var last atomic.Value
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					Follow(ctx, []string{path}, func() []string {
						content, _ := os.ReadFile(path)
						last.Store(string(content))
						return []string{path}
					})
				}()
				time.Sleep(time.Hour)
				synctest.Wait()
				if last.Load() != "old" {
					t.Errorf("at the start it holds %q", last.Load())
				}
				time.Sleep(lookEvery / 2) // between two looks
				change(t, path)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if last.Load() != "new one" {
					t.Errorf("it was last read with %q", last.Load())
				}
				end()
				<-ended
			})
		})
	}
}

func TestAFileIsNotReadWhileItIsBeingWritten(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "key"), "")
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		var seen []string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Follow(ctx, []string{path}, func() []string {
				content, _ := os.ReadFile(path)
				seen = append(seen, string(content))
				return []string{path}
			})
		}()
		time.Sleep(lookEvery / 2)
		for _, part := range []string{"a", "a-long", "a-long-key"} {
			time.Sleep(lookEvery)
			writeFile(t, path, part)
		}
		time.Sleep(time.Minute)
		end()
		<-ended
		if len(seen) != 2 || seen[1] != "a-long-key" {
			t.Errorf("it was read as %q", seen)
		}
	})
}
