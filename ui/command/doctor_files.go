package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tillwatch/api/durable"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// Room on a disk below which it is as good as full, and below which it soon is.
const (
	leastRoom = 32 << 20
	scantRoom = 512 << 20
)

// checkFiles looks at who else can read secrets.
func (p *patient) checkFiles(context.Context) (found []doctor.Finding) {
	if runtime.GOOS == "windows" {
		return doctor.Skip("files have no such permissions on this system")
	}
	files := slices.Collect(maps.Values(p.settings.SecretFiles))
	for _, key := range secrets() { // the configuration file, where a secret stands in it
		for _, from := range p.settings.Sources[key] {
			if path := from[strings.LastIndex(from, " of ")+len(" of "):]; strings.Contains(from, " of ") {
				files = append(files, path)
			} else if filepath.Ext(from) != "" && !strings.HasPrefix(from, "flag ") && !strings.HasPrefix(from, "variable ") {
				files = append(files, from)
			}
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, path := range files {
		found = append(found, secretFile(path)...)
	}
	audit := p.auditFile()
	if readers := whoElse(audit, 0o044); readers != "" {
		found = append(found, doctor.Findings(doctor.Warning, fmt.Sprintf("%s can read the audit log %s", readers, shortened(audit)),
			"it says what was bought", "chmod 600 "+shortened(audit))...)
	}
	switch {
	case found != nil:
		return found
	case len(files) == 0:
		return doctor.Fine("no secret is in a file")
	}
	return doctor.Fine("%s, for this user alone", wording.Counted(len(files), "file with secrets", "files with secrets"))
}

func (p *patient) auditFile() string { return filepath.Join(p.settings.StateDir, "confirms.jsonl") }

// secretFile says who else can read a file with secrets.
func secretFile(path string) []doctor.Finding {
	mend := "chmod 600 " + shortened(path)
	if readers := whoElse(path, 0o004); readers != "" {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("%s can read %s, which holds a secret", readers, shortened(path)),
			"with it, anyone on this machine acts for the account", mend)
	}
	if readers := whoElse(path, 0o040); readers != "" {
		return doctor.Findings(doctor.Note, fmt.Sprintf("%s can read %s, which holds a secret", readers, shortened(path)), "", mend+", unless that is meant")
	}
	return nil
}

// whoElse says who beside its owner has one of these permissions on a path, and can
// reach it; "" for nobody. What is not there is nobody's.
func whoElse(path string, permissions fs.FileMode) string {
	absolute, err := filepath.Abs(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil {
		return ""
	}
	got := info.Mode().Perm() & permissions
	for dir := filepath.Dir(absolute); got != 0; dir = filepath.Dir(dir) {
		if above, err := os.Stat(dir); err == nil { // who may not pass through a folder reaches nothing in it
			through := above.Mode().Perm() & 0o011
			got &= through<<1 | through<<2
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	switch {
	case got&0o007 != 0:
		return "every user of this machine"
	case got&0o070 != 0:
		return "the group of its owner"
	}
	return ""
}

// checkState looks at the folder of what is remembered, and of the audit log.
func (p *patient) checkState(context.Context) []doctor.Finding {
	dir := p.settings.StateDir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		above := existing(dir)
		if err := writable(above); err != nil {
			return doctor.Findings(doctor.Fault, fmt.Sprintf("the state folder %s is not there, and cannot be made: %v", shortened(dir), durable.ReasonFirst(err)),
				"nothing is remembered, and nothing can be confirmed, as the audit log has no place", "make it, or name another with state_dir")
		}
		return doctor.Findings(doctor.Note, fmt.Sprintf("the state folder %s is not there yet", shortened(dir)), "the first start makes it", "")
	}
	if err := writable(dir); err != nil {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("nothing can be written in the state folder: %v", durable.ReasonFirst(err)),
			"nothing is remembered, and nothing can be confirmed, as the audit log cannot be written", "give this user write permission, or name another folder with state_dir")
	}
	if writers := whoElse(dir, 0o002); writers != "" && runtime.GOOS != "windows" {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("%s can write in the state folder %s", writers, shortened(dir)),
			"they can take away the audit log, by which nothing is bought twice", "chmod 700 "+shortened(dir))
	}
	if file, err := os.OpenFile(p.auditFile(), os.O_WRONLY|os.O_APPEND, 0); err == nil {
		_ = file.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("the audit log cannot be written: %v", durable.ReasonFirst(err)), "nothing can be confirmed", "give it back to this user")
	}
	return doctor.Fine("%s can be written", shortened(dir))
}

// existing is the nearest folder above a path that is there.
func existing(path string) string {
	for {
		above := filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || above == path {
			return path
		}
		path = above
	}
}

// writable writes a file in a folder and takes it away again.
func writable(folder string) error {
	file, err := os.CreateTemp(folder, ".tillwatch-doctor-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString("written by tillwatch doctor, which takes it away\n")
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// checkDisk looks at the room for the state folder and for the journal of a relay on
// this machine.
func (p *patient) checkDisk(context.Context) (found []doctor.Finding) {
	folders := []struct{ dir, means string }{{p.settings.StateDir, "what is known is not kept, and nothing can be confirmed"}}
	if dir := p.journalDir(); dir != "" {
		folders = append(folders, struct{ dir, means string }{dir, "the relay refuses deliveries"})
	}
	var rooms []string
	for _, folder := range folders {
		free, err := p.free(existing(folder.dir))
		room := fmt.Sprintf("%s free for %s", sized(free), shortened(folder.dir))
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return doctor.Skip("what is free cannot be known on this system")
		case err != nil:
			found = append(found, doctor.Findings(doctor.Warning, fmt.Sprintf("what is free for %s cannot be known: %v", shortened(folder.dir), err), "", "")...)
		case free < leastRoom:
			found = append(found, doctor.Findings(doctor.Fault, "the disk is full: "+room, folder.means, "make room, or move the folder")...)
		case free < scantRoom:
			found = append(found, doctor.Findings(doctor.Warning, "the disk is nearly full: "+room, "once it is full, "+folder.means, "make room, or move the folder")...)
		default:
			rooms = append(rooms, room)
		}
	}
	if found != nil {
		return found
	}
	return doctor.Fine("%s", strings.Join(rooms, ", "))
}

// sized is a number of bytes as people say it.
func sized(bytes uint64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return wording.Count(int(min(bytes>>30, 1<<40))) + " GB"
}
