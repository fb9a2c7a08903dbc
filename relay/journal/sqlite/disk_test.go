package sqlite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// disk is what a power cut would leave of the files that SQLite writes through a
// file layer of its own: what was synced, and of what was written since nothing,
// everything, or some of it, in any order and torn anywhere.
type disk struct {
	vfs     string
	random  *rand.Rand
	reaches float64 // the share of the writes without a sync that reach the disk
	room    int64   // bytes that fit; 0 for any number
	lies    bool    // it syncs nothing, and says that it did

	mu        sync.Mutex
	before    func() error         // runs before each sync, which fails with its error; nil for none
	files     map[string]*diskFile // by path
	sizes     map[string]int64
	countdown int // writes and syncs until the cut; below zero for none
	isCut     bool
	cut       chan struct{} // closed at the cut
	kept      map[string]string
	promised  []string // what was acknowledged before the cut
}

type diskFile struct {
	synced  []byte
	pending []diskWrite
}

// diskWrite is a write at an offset, or a truncation there where data is nil.
type diskWrite struct {
	offset int64
	data   []byte
}

func (w diskWrite) apply(to []byte) []byte {
	if w.data == nil {
		return append(to[:min(w.offset, int64(len(to)))], make([]byte, max(0, w.offset-int64(len(to))))...)
	}
	if missing := w.offset + int64(len(w.data)) - int64(len(to)); missing > 0 {
		to = append(to, make([]byte, missing)...)
	}
	copy(to[w.offset:], w.data)
	return to
}

func (d *disk) file(path string) *diskFile {
	if d.files[path] == nil {
		d.files[path] = &diskFile{}
	}
	return d.files[path]
}

func (d *disk) write(path string, w diskWrite) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isCut {
		return
	}
	f := d.file(path)
	f.pending = append(f.pending, w)
	d.count()
}

// fits reports whether a write finds room, besides what all files have by now.
func (d *disk) fits(path string, end int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room == 0 {
		return true
	}
	total := max(end, d.sizes[path]) - d.sizes[path]
	for _, size := range d.sizes {
		total += size
	}
	if total > d.room {
		return false
	}
	d.sizes[path] = max(end, d.sizes[path])
	return true
}

// cutTo notes the size of a file that was truncated.
func (d *disk) cutTo(path string, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sizes[path] = size
}

// beforeSync has run run before each sync, which fails with its error.
func (d *disk) beforeSync(run func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = run
}

func (d *disk) syncing() error {
	d.mu.Lock()
	before := d.before
	d.mu.Unlock()
	if before == nil {
		return nil
	}
	return before()
}

func (d *disk) sync(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isCut || d.lies {
		return
	}
	f := d.file(path)
	for _, w := range f.pending {
		f.synced = w.apply(f.synced)
	}
	f.pending = nil
	d.count()
}

// remove removes a file for good, as SQLite syncs the folder.
func (d *disk) remove(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sizes, path)
	if !d.isCut {
		delete(d.files, path)
	}
}

// acknowledge notes an event that must be there after the cut, unless that has
// been.
func (d *disk) acknowledge(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.isCut {
		d.promised = append(d.promised, id)
	}
}

func (d *disk) cutAfter(operations int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.countdown = operations
}

func (d *disk) count() {
	if d.countdown < 0 {
		return
	}
	if d.countdown--; d.countdown >= 0 {
		return
	}
	d.isCut = true
	d.kept = map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[path]
		content := f.synced
		for _, w := range f.pending {
			if d.random.Float64() >= d.reaches {
				continue
			}
			if d.reaches < 1 && len(w.data) > 512 && d.random.IntN(4) == 0 {
				w.data = w.data[:512*d.random.IntN(len(w.data)/512)]
				if len(w.data) == 0 {
					continue
				}
			}
			content = w.apply(content)
		}
		d.kept[filepath.Base(path)] = string(content)
	}
	close(d.cut)
}

// leave writes what is left after the cut into a folder.
func (d *disk) leave(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range d.kept {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

// layer is a registered file layer. Of the functions of the system's it replaces
// those that write, sync, open, close and remove.
type layer struct {
	write    writeFunction
	truncate sizeFunction
	sync     syncFunction
	close    closeFunction
	own      openFunction
	remove   removeFunction

	mu     sync.Mutex
	opened map[uintptr]openedFile
	tables map[uintptr]uintptr // of functions: of the system's, the one with those replaced
	memory []uintptr
}

type openedFile struct {
	path   string
	system *sqlite3.Tsqlite3_io_methods
}

type (
	openFunction   = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	removeFunction = func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32
	writeFunction  = func(tls *libc.TLS, file, data uintptr, amount int32, offset int64) int32
	sizeFunction   = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunction   = func(tls *libc.TLS, file uintptr, flags int32) int32
	closeFunction  = func(tls *libc.TLS, file uintptr) int32
)

// called makes a function of an address in the tables of SQLite, and addressOf
// the other way round.
func called[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{address})) }

func addressOf[F any](function *F) uintptr { return *(*uintptr)(unsafe.Pointer(function)) }

// at is what SQLite keeps at an address.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// newDisk registers a disk with SQLite for one test.
func newDisk(t *testing.T, seed uint64) *disk {
	t.Helper()
	d := &disk{
		vfs:       fmt.Sprintf("disk-%s-%d", t.Name(), seed),
		random:    rand.New(rand.NewPCG(seed, seed)),
		files:     map[string]*diskFile{},
		sizes:     map[string]int64{},
		countdown: -1,
		cut:       make(chan struct{}),
	}
	d.reaches = []float64{0, 0.2, 0.8, 1}[d.random.IntN(4)]
	tls := libc.NewTLS()
	system := at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	l := newLayer(d, system)
	name, err := libc.CString(d.vfs)
	if err != nil {
		t.Fatal(err)
	}
	registered := l.allocate(tls, unsafe.Sizeof(*system))
	vfs := at[sqlite3.Tsqlite3_vfs](registered)
	*vfs = *system
	vfs.FzName, vfs.FpNext = name, 0
	vfs.FxOpen, vfs.FxDelete = addressOf(&l.own), addressOf(&l.remove)
	if code := sqlite3.Xsqlite3_vfs_register(tls, registered, 0); code != sqlite3.SQLITE_OK {
		t.Fatalf("register the disk: %d", code)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_unregister(tls, registered)
		for _, address := range append(l.memory, name) {
			libc.Xfree(tls, address)
		}
		tls.Close()
	})
	return d
}

func newLayer(d *disk, system *sqlite3.Tsqlite3_vfs) *layer {
	l := &layer{opened: map[uintptr]openedFile{}, tables: map[uintptr]uintptr{}}
	l.write = func(tls *libc.TLS, file, data uintptr, amount int32, offset int64) int32 {
		f := l.file(file)
		if !d.fits(f.path, offset+int64(amount)) {
			return sqlite3.SQLITE_FULL
		}
		d.write(f.path, diskWrite{offset, append([]byte{}, unsafe.Slice(at[byte](data), amount)...)})
		return called[writeFunction](f.system.FxWrite)(tls, file, data, amount, offset)
	}
	l.truncate = func(tls *libc.TLS, file uintptr, size int64) int32 {
		f := l.file(file)
		d.cutTo(f.path, size)
		d.write(f.path, diskWrite{size, nil})
		return called[sizeFunction](f.system.FxTruncate)(tls, file, size)
	}
	l.sync = func(_ *libc.TLS, file uintptr, _ int32) int32 {
		if err := d.syncing(); err != nil {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		d.sync(l.file(file).path)
		return sqlite3.SQLITE_OK
	}
	l.close = func(tls *libc.TLS, file uintptr) int32 {
		f := l.file(file)
		l.mu.Lock()
		delete(l.opened, file)
		l.mu.Unlock()
		return called[closeFunction](f.system.FxClose)(tls, file)
	}
	l.own = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
		code := called[openFunction](system.FxOpen)(tls, vfs, name, file, flags, outFlags)
		if code == sqlite3.SQLITE_OK && name != 0 {
			l.replace(tls, libc.GoString(name), file)
		}
		return code
	}
	l.remove = func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32 {
		d.remove(libc.GoString(name))
		return called[removeFunction](system.FxDelete)(tls, vfs, name, syncFolder)
	}
	return l
}

func (l *layer) file(address uintptr) openedFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened[address]
}

// replace gives an open file the functions of this layer. The system has a table
// of functions for each way of locking.
func (l *layer) replace(tls *libc.TLS, path string, file uintptr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	methods := at[uintptr](file) // the first member of an sqlite3_file
	system := at[sqlite3.Tsqlite3_io_methods](*methods)
	if l.tables[*methods] == 0 {
		address := l.allocate(tls, unsafe.Sizeof(*system))
		table := at[sqlite3.Tsqlite3_io_methods](address)
		*table = *system
		table.FxWrite, table.FxTruncate = addressOf(&l.write), addressOf(&l.truncate)
		table.FxSync, table.FxClose = addressOf(&l.sync), addressOf(&l.close)
		l.tables[*methods] = address
	}
	l.opened[file] = openedFile{path, system}
	*methods = l.tables[*methods]
}

func (l *layer) allocate(tls *libc.TLS, size uintptr) uintptr {
	address := libc.Xmalloc(tls, libc.Tsize_t(size))
	if address == 0 {
		panic("out of memory")
	}
	l.memory = append(l.memory, address)
	return address
}

// through opens a journal whose files are on d.
func through(t *testing.T, d *disk, dir string) *Journal {
	t.Helper()
	j, err := open(t.Context(), dir, d.vfs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}
