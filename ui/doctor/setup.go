package doctor

import (
	"io"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay"
)

// Setup is what is examined, and what its checks have learnt of it. They run one after
// another. What is not configured is empty.
type Setup struct {
	APIURL       string
	APIKey       api.Secret
	PollShare    float64
	AllowConfirm bool
	NamesIntents bool // ids of intents to watch are given
	RelayURL     string
	ProxyListen  string
	Postgres     api.Secret
	StateDir     string
	AuditFile    string
	SecretFiles  []string // files and other sources of secrets
	Journal      string   // folder of the relay's journal; "": none was named
	UsualJournal string   // where a relay on this machine keeps it if none was named

	Client     func(api.Config) (*api.Client, error) // of the service, unless the configuration has another address
	Reader     func() (*relay.Reader, error)
	Subscriber func(relay.SubscriberConfig) (*relay.Subscriber, error)
	In         io.Reader // perhaps a terminal, as is Out
	Out        io.Writer
	Free       func(folder string) (bytes uint64, err error) // nil: asks the system
	Within     time.Duration                                 // how long the service may take for one answer; 0: two seconds

	reads    atomic.Int64 // charged to the service's quota
	client   *api.Client  // nil before checkService
	pacer    *quota.Pacer
	heard    heard
	first    error        // of the first read; nil: it succeeded
	answered api.Exchange // the first that was answered
	intents  listProbe
	events   listProbe

	reader *relay.Reader // nil before checkRelay
	unsure bool          // whether a relay answers at RelayURL
	newest []relay.Item  // of the relay's journal, oldest first
}

// Checks are the checks, in order. They need those called settings and secrets, which come before.
func (s *Setup) Checks() []Check {
	return []Check{
		{Name: "files", Needs: []string{"settings"}, Run: s.checkFiles},
		{Name: "state", Needs: []string{"settings"}, Run: s.checkState},
		{Name: "terminal", Run: s.checkTerminal},
		{Name: "service", Needs: []string{"settings", "secrets"}, Run: s.checkService},
		{Name: "clock", Needs: []string{"service"}, Run: s.checkClock},
		{Name: "key", Needs: []string{"service"}, Run: s.checkKey},
		{Name: "environment", Needs: []string{"service"}, Run: s.checkEnvironment},
		{Name: "headers", Needs: []string{"key"}, Run: s.checkHeaders},
		{Name: "limits", Needs: []string{"key"}, Run: s.checkLimits},
		{Name: "lists", Needs: []string{"key"}, Run: s.checkLists},
		{Name: "relay", Needs: []string{"settings", "secrets"}, Run: s.checkRelay},
		{Name: "token", Needs: []string{"relay"}, Run: s.checkToken},
		{Name: "stream", Needs: []string{"token"}, Run: s.checkStream},
		{Name: "events", Needs: []string{"stream"}, Run: s.checkEvents},
		{Name: "endpoint", Needs: []string{"token"}, Run: s.checkEndpoint},
		{Name: "disk", Needs: []string{"state"}, Run: s.checkDisk},
		{Name: "journal", Needs: []string{"settings"}, Run: s.checkJournal},
		{Name: "database", Needs: []string{"settings"}, Run: s.checkDatabase},
		{Name: "proxy", Needs: []string{"settings"}, Run: s.checkProxy},
	}
}

// Reads is how many reads were charged to the service's quota.
func (s *Setup) Reads() int { return int(s.reads.Load()) }

// Close closes the connections.
func (s *Setup) Close() {
	if s.client != nil {
		s.client.Close()
	}
	if s.reader != nil {
		s.reader.Close()
	}
}
