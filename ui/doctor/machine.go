package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"tillwatch/api"
	"tillwatch/api/durable"
	"tillwatch/api/proxy"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/relay/journal/postgres"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/wording"
)

// checkFiles reports who else can read files with secrets.
func (s *Setup) checkFiles(context.Context) (found []Finding) {
	const means = "whoever reads it can act for the account"
	for _, file := range s.SecretFiles { // a source that is a variable is not a file, and is skipped
		who, mend := othersWith(file, 0o044), "chmod 600 "+wording.Path(file)
		switch text := fmt.Sprintf("%s can read %s, which holds a secret", who, wording.Path(file)); who {
		case everyUser:
			found = append(found, Findings(Fault, text, means, mend)...)
		case ownGroup:
			found = append(found, Findings(Note, text, means, mend+", unless this is intended")...)
		}
	}
	if found == nil {
		return Fine("only this user can read the secrets")
	}
	return found
}

// The groups of users that permissions can name.
const (
	everyUser = "every user of this machine"
	ownGroup  = "the group of its owner"
)

// othersWith says who, other than the owner, has one of these permissions on a path and
// can reach it; "" for nobody, also if the path does not exist.
func othersWith(path string, permissions fs.FileMode) string {
	absolute, err := filepath.Abs(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || runtime.GOOS == "windows" {
		return ""
	}
	got := info.Mode().Perm() & permissions
	for dir := absolute; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if above, err := os.Stat(dir); err == nil { // who may not enter a folder reaches nothing in it
			through := above.Mode().Perm() & 0o011
			got &= through<<1 | through<<2
		}
	}
	switch {
	case got&0o007 != 0:
		return everyUser
	case got != 0:
		return ownGroup
	}
	return ""
}

// checkState checks the folder of the saved state and the audit log.
func (s *Setup) checkState(context.Context) []Finding {
	dir, audit := s.StateDir, s.AuditFile
	const means, do = "no state is saved, and without an audit log nothing can be confirmed", "give this user write permission, or set state_dir to another folder"
	if err := writable(dir); err != nil {
		return Findings(Fault, fmt.Sprintf("the state folder cannot be written: %v", err), means, toWrite(err, do))
	}
	if who := othersWith(dir, 0o022); who == everyUser {
		return Findings(Fault, fmt.Sprintf("%s can write in the state folder %s", who, wording.Path(dir)), "they can delete the audit log, which prevents buying twice", "chmod 700 "+wording.Path(dir))
	}
	file, err := os.OpenFile(audit, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_ = file.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Findings(Fault, fmt.Sprintf("the audit log cannot be written: %v", durable.ReasonFirst(err)), "nothing can be confirmed", "make this user its owner")
	}
	if existing(dir) != dir {
		return Findings(Note, fmt.Sprintf("the state folder %s does not exist yet", wording.Path(dir)), "the first start creates it", "")
	}
	return Fine("%s can be written", wording.Path(dir))
}

// toWrite is what to do about what cannot be written: that on its disk, or what helps
// where permission is missing.
func toWrite(err error, permission string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on its disk, or name another folder"
	case errors.Is(err, syscall.EROFS):
		return "mount its file system for writing, or name another folder"
	}
	return permission
}

// existing is a path, or the nearest folder above it that is there.
func existing(path string) string {
	for above := filepath.Dir(path); path != above; path, above = above, filepath.Dir(above) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return path
}

// writable writes a file in a folder, or in its nearest parent that exists, and
// removes it again.
func writable(folder string) error {
	file, err := os.CreateTemp(existing(folder), ".tillwatch-doctor-*")
	if err == nil {
		_, err = file.WriteString("tillwatch doctor removes this file\n")
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return durable.ReasonFirst(err)
}

// Free space below which a disk counts as full, and as nearly full.
const (
	leastRoom = 32 << 20
	scantRoom = 512 << 20
)

// checkDisk checks the free space for the state folder and for the journal of a relay
// on this machine.
func (s *Setup) checkDisk(context.Context) (found []Finding) {
	for _, folder := range []struct{ dir, means string }{
		{s.StateDir, "no state is saved, and nothing can be confirmed"}, {s.journalDir(), "the relay refuses deliveries"},
	} {
		if folder.dir == "" {
			continue
		}
		free := s.Free
		if free == nil {
			free = freeSpace
		}
		room, err := free(existing(folder.dir))
		text := fmt.Sprintf("%s free for %s", wording.Bytes(int64(min(room, math.MaxInt64))), wording.Path(folder.dir))
		switch {
		case err != nil:
			found = append(found, Skip("the free space for %s is unknown: %v", wording.Path(folder.dir), err)...)
		case room < leastRoom:
			found = append(found, Findings(Fault, "the disk is full: "+text, folder.means, "free some space, or move the folder")...)
		case room < scantRoom:
			found = append(found, Findings(Warning, "the disk is nearly full: "+text, "once it is, "+folder.means, "free some space, or move the folder")...)
		default:
			found = append(found, Fine("%s", text)...)
		}
	}
	return found
}

// checkTerminal queries the terminal, if stdin and stdout are one.
func (s *Setup) checkTerminal(context.Context) []Finding {
	in, isIn := s.In.(*os.File)
	out, isOut := s.Out.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return Skip("stdin or stdout is not a terminal")
	}
	width, height, err := term.GetSize(out.Fd())
	colours := colorprofile.Detect(out, os.Environ())
	what := fmt.Sprintf("%dx%d cells, TERM=%q, colours: %s", width, height, os.Getenv("TERM"), colours)
	switch {
	case os.Getenv("TERM") == "dumb":
		return Findings(Note, what, "nothing can be drawn on it: tillwatch prints a line for each change", "set TERM to the terminal's type")
	case err != nil || width < layout.MinWidth || height < layout.MinHeight:
		return Findings(Warning, what, fmt.Sprintf("the dashboard needs %dx%d", layout.MinWidth, layout.MinHeight), "enlarge the window, or use a smaller font")
	case colours <= colorprofile.Ascii:
		return Fine("%s", what)
	}
	began := time.Now()
	sent, ok := canvas.Ask(in, out, ansi.RequestBackgroundColor)
	if !ok {
		return Findings(Note, what+"; it answers no queries", "whether its background is dark or light is unknown", "choose a theme with --theme if the colours are hard to read")
	}
	return Fine("%s; %s; it answers in %s", what, groundIn(sent), wording.Took(time.Since(began)))
}

// groundIn says what a terminal's answers tell of its background.
func groundIn(sent []uv.Event) string {
	for _, event := range sent {
		switch ground, ok := event.(uv.BackgroundColorEvent); {
		case ok && ground.IsDark():
			return "dark background"
		case ok:
			return "light background"
		}
	}
	return "it does not report its background"
}

// journalDir is the journal folder of a relay on this machine: the one that was named, or
// the usual one if the configured relay is on this machine; otherwise "".
func (s *Setup) journalDir() string {
	here := api.Loopback(api.HostOf(s.RelayURL)) && s.Postgres.IsZero()
	if _, err := os.Stat(filepath.Join(s.UsualJournal, "journal.db")); s.Journal == "" && here && err == nil {
		return s.UsualJournal
	}
	return s.Journal
}

// checkJournal examines the journal's folder without opening the journal: a relay may
// have it open.
func (s *Setup) checkJournal(ctx context.Context) []Finding {
	dir := s.journalDir()
	if dir == "" {
		return Skip("no relay on this machine is known: give its folder with --data")
	}
	file := filepath.Join(dir, "journal.db")
	database, err := os.OpenFile(file, os.O_RDWR, 0)
	absent := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		_ = database.Close()
	}
	if err == nil || absent {
		err = writable(dir)
	}
	issued, unread := relay.NewTokenFile(dir).Read(ctx)
	switch who := othersWith(file, 0o004); {
	case err != nil:
		return Findings(Fault, fmt.Sprintf("the journal cannot be written: %v", durable.ReasonFirst(err)), "a relay does not start with it, or refuses deliveries",
			toWrite(err, "give the relay's user write permission, or name the right folder"))
	case absent:
		return Findings(Note, fmt.Sprintf("there is no journal in %s yet", wording.Path(dir)), "the relay's first start creates it", "")
	case who != "":
		return Findings(Fault, fmt.Sprintf("%s can read the journal %s", who, wording.Path(file)), "it holds what the service sent, buyers included", "chmod 700 "+wording.Path(dir))
	case unread != nil:
		return Findings(Fault, unread.Error(), "the relay does not start", "")
	}
	return Fine("the journal in %s can be written; %s issued there", wording.Path(dir), wording.Counted(len(issued), "token was", "tokens were"))
}

// checkDatabase checks the database that several relays share.
func (s *Setup) checkDatabase(ctx context.Context) []Finding {
	if s.Postgres.IsZero() {
		return Skip("none is configured")
	}
	head, err := postgres.Probe(ctx, s.Postgres.Reveal())
	switch {
	case errors.Is(err, postgres.ErrNoJournal):
		return Findings(Note, "it answers; "+err.Error(), "", "")
	case err != nil:
		return Findings(Fault, err.Error(), "relays with it do not start, or refuse deliveries", "")
	}
	return Fine("it answers, and holds %s", wording.Counted(int(head), "event", "events"))
}

// checkProxy reads once through the configured proxy.
func (s *Setup) checkProxy(ctx context.Context) []Finding {
	if s.ProxyListen == "" {
		return Skip("none is configured")
	}
	const means, do = "code with the proxy as its base URL cannot reach the service", "start it: tillwatch watch, with proxy_listen set, or tillwatch proxy"
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", s.ProxyListen)
	if err != nil {
		return Findings(Fault, fmt.Sprintf("nothing answers at %s: %v", s.ProxyListen, err), means, do)
	}
	_ = connection.Close()
	ours := proxy.Listens(ctx, s.ProxyListen)
	if ours && (s.client == nil || s.first != nil || !s.maySpend()) {
		return Findings(Note, "it listens at "+s.ProxyListen, "not tested: the service did not answer well, or the quota is low", "")
	}
	if !ours {
		return Findings(Fault, fmt.Sprintf("what answers at %s is not tillwatch's proxy", s.ProxyListen), "nobody sees what is spent there", "end what listens there, then "+do)
	}
	through, err := s.newClient(api.Config{BaseURL: "http://" + s.ProxyListen})
	if err == nil {
		err = s.readShipments(quota.WithPriority(ctx, quota.Reconcile), through)
		through.Close()
	}
	if err != nil {
		return Findings(Fault, fmt.Sprintf("it does not pass requests on at %s: %v", s.ProxyListen, err), means, do)
	}
	return Fine("it passes requests on at %s", s.ProxyListen)
}
