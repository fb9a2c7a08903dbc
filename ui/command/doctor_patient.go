package command

import (
	"io"
	"sync/atomic"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/ui/doctor"
)

// patient is a set-up that is being examined, and what the checks have learnt of it.
// They run one after another.
type patient struct {
	settings settings
	wrong    error // why the settings cannot be used
	data     string
	in       io.Reader
	out      io.Writer
	free     func(folder string) (bytes uint64, err error)
	reads    atomic.Int64 // that the service's quota was charged with

	client *api.Client // nil before the service was looked at
	pacer  *quota.Pacer
	heard  heard
	first  error // of the first read; nil: it was answered well

	intents listProbe
	events  listProbe

	reader *relay.Reader // nil before the token was looked at
	head   string        // the cursor behind the newest event of the relay
	newest []relay.Item  // of the relay's journal, oldest first
}

func (p *patient) close() {
	if p.client != nil {
		p.client.Close()
	}
	if p.reader != nil {
		p.reader.Close()
	}
}

// checks are all there are, in the order in which they are made.
func (p *patient) checks() []doctor.Check {
	const settings, secrets, service, key, relay, token, stream, state = "settings", "secrets", "service", "key", "relay", "token", "stream", "state"
	return []doctor.Check{
		{Name: settings, Run: p.checkSettings},
		{Name: secrets, Needs: []string{settings}, Run: p.checkSecrets},
		{Name: "files", Needs: []string{settings}, Run: p.checkFiles},
		{Name: state, Needs: []string{settings}, Run: p.checkState},
		{Name: "terminal", Run: p.checkTerminal},
		{Name: service, Needs: []string{settings, secrets}, Run: p.checkService},
		{Name: "clock", Needs: []string{service}, Run: p.checkClock},
		{Name: key, Needs: []string{service}, Run: p.checkKey},
		{Name: "environment", Needs: []string{service}, Run: p.checkEnvironment},
		{Name: "headers", Needs: []string{key}, Run: p.checkHeaders},
		{Name: "limits", Needs: []string{key}, Run: p.checkLimits},
		{Name: "lists", Needs: []string{key}, Run: p.checkLists},
		{Name: relay, Needs: []string{settings, secrets}, Run: p.checkRelay},
		{Name: token, Needs: []string{relay}, Run: p.checkToken},
		{Name: stream, Needs: []string{token}, Run: p.checkStream},
		{Name: "events", Needs: []string{stream}, Run: p.checkEvents},
		{Name: "endpoint", Needs: []string{token}, Run: p.checkEndpoint},
		{Name: "disk", Needs: []string{state}, Run: p.checkDisk},
		{Name: "journal", Needs: []string{settings}, Run: p.checkJournal},
		{Name: "database", Needs: []string{settings}, Run: p.checkDatabase},
		{Name: "proxy", Needs: []string{settings}, Run: p.checkProxy},
	}
}

func (p *patient) names() (names []string) {
	for _, check := range p.checks() {
		names = append(names, check.Name)
	}
	return names
}
