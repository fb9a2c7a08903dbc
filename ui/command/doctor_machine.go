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
	"time"

	"tillwatch/api"
	"tillwatch/api/durable"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/relay/journal/postgres"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// journalDir is the folder of the journal of a relay on this machine: the one that was
// named, or the usual one where the relay of the settings is here; else "".
func (p *patient) journalDir() string {
	if p.data != "" {
		return p.data
	}
	if _, err := os.Stat(relayDir()); err == nil && api.Loopback(hostOf(p.settings.RelayURL)) && p.settings.Postgres.IsZero() {
		return relayDir()
	}
	return ""
}

// checkJournal looks at the journal's folder from outside: a relay may have it open.
func (p *patient) checkJournal(ctx context.Context) []doctor.Finding {
	dir := p.journalDir()
	if dir == "" {
		return doctor.Skip("no relay of this machine is known: name its folder with --data")
	}
	const means, do = "a relay with it starts not, or refuses deliveries", "give the relay's user write permission, or name the right folder"
	file := filepath.Join(dir, "journal.db")
	database, err := os.OpenFile(file, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.data == "":
		return doctor.Skip("there is no journal in %s", shortened(dir))
	case errors.Is(err, fs.ErrNotExist):
		if err := writable(existing(dir)); err != nil {
			return doctor.Findings(doctor.Fault, fmt.Sprintf("there is no journal in %s, and none can be made: %v", shortened(dir), durable.ReasonFirst(err)), means, do)
		}
		return doctor.Findings(doctor.Note, fmt.Sprintf("there is no journal in %s yet", shortened(dir)), "the relay's first start makes it", "")
	case err != nil:
		return doctor.Findings(doctor.Fault, fmt.Sprintf("the journal cannot be written: %v", durable.ReasonFirst(err)), means, do)
	}
	info, err := database.Stat()
	_ = database.Close()
	if err == nil {
		err = writable(dir)
	}
	if err != nil {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("the journal's folder cannot be written: %v", durable.ReasonFirst(err)), means, do)
	}
	if readers := whoElse(file, 0o006); readers != "" && runtime.GOOS != "windows" {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("%s can read the journal %s", readers, shortened(file)), "it holds what the service sent, buyers included", "chmod 700 "+shortened(dir))
	}
	issued, err := relay.NewTokenFile(dir).Read(ctx)
	if err != nil {
		return doctor.Findings(doctor.Fault, err.Error(), "the relay does not start", "")
	}
	return doctor.Fine("%s of events in %s, and %s made there", sized(uint64(info.Size())), shortened(dir), wording.Counted(len(issued), "token", "tokens"))
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
		return doctor.Findings(doctor.Fault, err.Error(), "relays with it start not, or refuse deliveries", "")
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
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.ProxyListen)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) {
			err = dial.Err
		}
		return doctor.Findings(doctor.Fault, fmt.Sprintf("nothing answers at %s: %v", s.ProxyListen, err), means, do)
	}
	_ = connection.Close()
	switch {
	case p.client == nil || p.first != nil:
		return doctor.Findings(doctor.Note, "something listens at "+s.ProxyListen, "whether it passes requests on is not tried, as the service itself did not answer well", "")
	case !p.maySpend():
		return doctor.Findings(doctor.Note, "something listens at "+s.ProxyListen, "whether it passes requests on is not tried, as the quota is down to its reserve", "")
	}
	through, err := api.New(api.Config{
		BaseURL: "http://" + strings.Replace(s.ProxyListen, "localhost", "127.0.0.1", 1), Key: s.APIKey, Timeout: askWithin, Retries: -1,
		Pacer: p.pacer, Observe: func(api.Exchange) { p.reads.Add(1) },
	})
	if err != nil {
		return doctor.Findings(doctor.Note, "something listens at "+s.ProxyListen, "whether it passes requests on is not tried: "+err.Error(), "")
	}
	defer through.Close()
	began := time.Now()
	for _, err = range through.ShipmentPages(quota.WithPriority(ctx, quota.Reconcile), api.ShipmentQuery{Limit: 1}) {
		break
	}
	if err != nil {
		return doctor.Findings(doctor.Fault, fmt.Sprintf("what listens at %s does not pass requests on: %v", s.ProxyListen, err), means, do)
	}
	return doctor.Fine("it passes requests on at %s: a read took %d ms", s.ProxyListen, time.Since(began).Milliseconds())
}
