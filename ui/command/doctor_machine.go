package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"tillwatch/api"
	"tillwatch/api/durable"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/relay/journal/postgres"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkFiles looks at who else can read files with secrets.
func (p *patient) checkFiles(context.Context) (found []doctor.Finding) {
	files := map[string]bool{}
	for _, key := range secrets() {
		if file := p.settings.SecretFiles[key]; file != "" {
			files[file] = true
		}
		for _, from := range p.settings.Sources[key] { // the configuration file, where the secret stands in it
			if _, file, named := strings.Cut(from, " of "); named {
				from = file
			}
			files[from] = true
		}
	}
	const means = "with it, whoever reads it acts for the account"
	for file := range files { // what is no file but a variable is not there, and nobody's
		who, mend := beside(file, 0o044), "chmod 600 "+shortened(file)
		switch text := fmt.Sprintf("%s can read %s, which holds a secret", who, shortened(file)); who {
		case everyUser:
			found = append(found, doctor.Findings(doctor.Fault, text, means, mend)...)
		case ownGroup:
			found = append(found, doctor.Findings(doctor.Note, text, means, mend+", unless that is meant")...)
		}
	}
	if found == nil {
		return doctor.Fine("secrets are this user's alone")
	}
	return found
}

// Whom permissions name beside the owner.
const (
	everyUser = "every user of this machine"
	ownGroup  = "the group of its owner"
)

// beside says who else than its owner has one of these permissions on a path, and can
// reach it; "" for nobody. What is not there is nobody's.
func beside(path string, permissions fs.FileMode) string {
	absolute, err := filepath.Abs(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || runtime.GOOS == "windows" {
		return ""
	}
	got := info.Mode().Perm() & permissions
	for dir := absolute; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if above, err := os.Stat(dir); err == nil { // who may not pass through a folder reaches nothing in it
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

// checkState looks at the folder of what is remembered, and of the audit log.
func (p *patient) checkState(context.Context) []doctor.Finding {
	dir, audit := p.settings.StateDir, filepath.Join(p.settings.StateDir, "confirms.jsonl")
	const means, do = "nothing is remembered, and nothing can be confirmed, as the audit log has no place", "give this user write permission, or name another folder with state_dir"
	if err := writable(dir); err != nil {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("the state folder cannot be written: %v", err), means, toWrite(err, do))
	}
	if who := beside(dir, 0o022); who == everyUser {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("%s can write in the state folder %s", who, shortened(dir)), "they can take away the audit log, by which nothing is bought twice", "chmod 700 "+shortened(dir))
	}
	file, err := os.OpenFile(audit, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_ = file.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("the audit log cannot be written: %v", durable.ReasonFirst(err)), "nothing can be confirmed", "give it back to this user")
	}
	if existing(dir) != dir {
		return doctor.Findings(doctor.Note, fmt.Sprintf("the state folder %s is not there yet", shortened(dir)), "the first start makes it", "")
	}
	return doctor.Fine("%s can be written", shortened(dir))
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

// writable writes a file in a folder, or where that would be made, and takes it away
// again.
func writable(folder string) error {
	file, err := os.CreateTemp(existing(folder), ".tillwatch-doctor-*")
	if err == nil {
		_, err = file.WriteString("tillwatch doctor takes this away\n")
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return durable.ReasonFirst(err)
}

// Room on a disk below which it is as good as full, and below which it soon is.
const (
	leastRoom = 32 << 20
	scantRoom = 512 << 20
)

// checkDisk looks at the room for the state folder and for the journal of a relay on
// this machine.
func (p *patient) checkDisk(context.Context) (found []doctor.Finding) {
	for _, folder := range []struct{ dir, means string }{
		{p.settings.StateDir, "nothing new is kept, and nothing can be confirmed"}, {p.journalDir(), "the relay refuses deliveries"},
	} {
		if folder.dir == "" {
			continue
		}
		free, err := p.free(existing(folder.dir))
		text := fmt.Sprintf("%s free for %s", sized(free), shortened(folder.dir))
		switch {
		case err != nil:
			found = append(found, doctor.Skip("what is free for %s cannot be known: %v", shortened(folder.dir), err)...)
		case free < leastRoom:
			found = append(found, doctor.Findings(doctor.Fault, "the disk is full: "+text, folder.means, "make room, or move the folder")...)
		case free < scantRoom:
			found = append(found, doctor.Findings(doctor.Warning, "the disk is nearly full: "+text, "once it is, "+folder.means, "make room, or move the folder")...)
		default:
			found = append(found, doctor.Fine("%s", text)...)
		}
	}
	return found
}

// sized is a number of bytes as people say it.
func sized(bytes uint64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d GB", bytes>>30)
}

// checkTerminal asks the terminal what it is, if there is one on both ends.
func (p *patient) checkTerminal(context.Context) []doctor.Finding {
	in, isIn := p.in.(*os.File)
	out, isOut := p.out.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return doctor.Skip("there is none: stdin or stdout is a pipe or a file")
	}
	width, height, err := term.GetSize(out.Fd())
	what := fmt.Sprintf("%dx%d cells, TERM=%s, colours: %s", width, height, shownValue(os.Getenv("TERM")), colorprofile.Detect(out, os.Environ()))
	switch {
	case os.Getenv("TERM") == "dumb":
		return doctor.Findings(doctor.Note, what, "nothing can be drawn on it: tillwatch prints a line for each change", "set TERM to what the terminal is")
	case err != nil || width < layout.MinWidth || height < layout.MinHeight:
		return doctor.Findings(doctor.Warning, what, fmt.Sprintf("the dashboard needs %dx%d", layout.MinWidth, layout.MinHeight), "make it larger, or its letters smaller")
	}
	began := time.Now()
	ground, err := lipgloss.BackgroundColor(in, out)
	took := time.Since(began)
	switch {
	case err != nil || took > time.Second: // the library waits longer for one that says nothing
		return doctor.Findings(doctor.Note, what+"; it answers no questions", "whether its ground is dark or light is not known", "choose a theme with --theme if the colours suit it ill")
	case ground == nil:
		what += "; it does not tell its ground"
	case tea.BackgroundColorMsg{Color: ground}.IsDark():
		what += "; its ground is dark"
	default:
		what += "; its ground is light"
	}
	return doctor.Fine("%s; it answers in %d ms", what, took.Milliseconds())
}

// journalDir is the folder of the journal of a relay on this machine: the one that was
// named, or the usual one where the relay of the settings is here; else "".
func (p *patient) journalDir() string {
	here := api.Loopback(hostOf(p.settings.RelayURL)) && p.settings.Postgres.IsZero()
	if _, err := os.Stat(filepath.Join(relayDir(), "journal.db")); p.data == "" && here && err == nil {
		return relayDir()
	}
	return p.data
}

// checkJournal looks at the journal's folder from outside: a relay may have it open.
func (p *patient) checkJournal(ctx context.Context) []doctor.Finding {
	dir := p.journalDir()
	if dir == "" {
		return doctor.Skip("no relay of this machine is known: name its folder with --data")
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
	switch who := beside(file, 0o004); {
	case err != nil:
		return doctor.Findings(doctor.Fault, fmt.Sprintf("the journal cannot be written: %v", durable.ReasonFirst(err)), "a relay does not start with it, or refuses deliveries",
			toWrite(err, "give the relay's user write permission, or name the right folder"))
	case absent:
		return doctor.Findings(doctor.Note, fmt.Sprintf("there is no journal in %s yet", shortened(dir)), "the relay's first start makes it", "")
	case who != "":
		return doctor.Findings(doctor.Fault, fmt.Sprintf("%s can read the journal %s", who, shortened(file)), "it holds what the service sent, buyers included", "chmod 700 "+shortened(dir))
	case unread != nil:
		return doctor.Findings(doctor.Fault, unread.Error(), "the relay does not start", "")
	}
	return doctor.Fine("the journal in %s can be written; %s made there", shortened(dir), wording.Counted(len(issued), "token was", "tokens were"))
}

// checkDatabase looks at the database of several relays.
func (p *patient) checkDatabase(ctx context.Context) []doctor.Finding {
	if p.settings.Postgres.IsZero() {
		return doctor.Skip("none is configured")
	}
	head, warning, err := postgres.Probe(ctx, p.settings.Postgres.Reveal())
	switch {
	case errors.Is(err, postgres.ErrNoJournal):
		return doctor.Findings(doctor.Note, "it answers; "+err.Error(), "", "")
	case err != nil:
		return doctor.Findings(doctor.Fault, err.Error(), "relays with it do not start, or refuse deliveries", "")
	case warning != "":
		return doctor.Findings(doctor.Warning, warning, "", "")
	}
	return doctor.Fine("it answers, and holds %s", wording.Counted(int(head), "event", "events"))
}

// checkProxy reads once through the proxy of the settings.
func (p *patient) checkProxy(ctx context.Context) []doctor.Finding {
	s := p.settings
	if s.ProxyListen == "" {
		return doctor.Skip("none is configured")
	}
	const means, do = "code with the proxy as its base URL cannot reach the service", "start it: tillwatch watch, with proxy_listen set, or tillwatch proxy"
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", s.ProxyListen)
	if err != nil {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("nothing answers at %s: %v", s.ProxyListen, err), means, do)
	}
	_ = connection.Close()
	if p.client == nil || p.first != nil || !p.maySpend() {
		return doctor.Findings(doctor.Note, "something listens at "+s.ProxyListen, "whether it passes requests on is not tried, as the service did not answer well, or the quota is low", "")
	}
	through, err := p.asking("http://"+s.ProxyListen, nil)
	if err == nil {
		err = p.readShipments(quota.WithPriority(ctx, quota.Reconcile), through)
		through.Close()
	}
	if err != nil {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("what listens at %s does not pass requests on: %v", s.ProxyListen, err), means, do)
	}
	return doctor.Fine("it passes requests on at %s", s.ProxyListen)
}
