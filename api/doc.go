// Package api is a client of the Universal Checkout API.
//
//	client, err := api.New(api.Config{BaseURL: "https://api.example.com", Key: api.NewSecret(key)})
//	intent, err := client.Intent(ctx, "ci_779d1ba1900f41e1ace4536c64382ed7")
//	for shipment, err := range client.IntentShipments(ctx, intent.ID) { … }
//
// Each call takes a context first and returns a resource and an error. A resource
// says in its Response field when and where it was read. Lists are iterators that
// fetch page after page as they are ranged over.
//
// # Errors
//
// The service's refusals are of type [*Error]; errors.Is finds their kind,
// as in errors.Is(err, api.ErrNotFound). A request that got no answer fails with a
// [*TransportError], a success whose body makes no sense with an
// [*UnreadableError].
//
// Reads are sent again after failures that pass. Whatever moves money is sent
// once: [IsUnknownOutcome] picks the errors that leave open whether it took effect.
//
// # Untrusted data
//
// The service's contract decides what is required. Everything that it calls "not
// shown" is read when it is present and never missed when it is absent. Text that
// comes from outside is scrubbed once, where it is decoded, into [Text] and [ID];
// nothing else may reach a terminal.
//
// Raw bodies are kept beside the decoded values, so that nothing that a newer
// service sends is lost. They may hold personal data and live tokens: [Masked]
// renders them for a screen, a log or an export, and the resources themselves
// print as their identity only.
package api
