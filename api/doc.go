// Package api is a client of the Universal Checkout API: resources, errors,
// pages and paced requests.
//
// The service's contract decides what is required; everything that the
// contract calls "not shown" is read when it is present and never missed when
// it is absent. Text that comes from outside is scrubbed once, where it is
// decoded, into [Text] and [ID]; nothing else may reach a terminal.
//
// Raw bodies are kept beside the decoded values, so that nothing that a newer
// service sends is lost. They may hold personal data and live tokens: [Masked]
// renders them for a screen, a log or an export, and the resources themselves
// print as their identity only.
//
// Reads are sent again after failures that pass. Whatever moves money is sent
// once: [IsUnknownOutcome] tells the errors that leave open whether it took
// effect.
package api
