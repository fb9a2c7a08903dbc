// Package simulator stands in for the service: the whole contract over real
// HTTP, with a shop that lives by itself, for demonstrations, tests and
// integration work.
//
// # The service
//
// It follows the contract strictly: five states, nine event types, closed
// bodies, `Bearer` keys only, RateLimit fields on every answer. Where the
// contract shows nothing it does what public clients have seen. An intent that
// is created over HTTP always gets its offer and, once confirmed, completes,
// unless its product URL, its variant, its buyer, its constraints or the
// merchant's stock say otherwise; only the intents of the simulated shop fail at
// random.
//
// What the API takes, a merchant may refuse. An order for a product with variants
// names one, by ?variant= with the id that the lookup gives or by selections. The
// buyer's e-mail address and phone number must look like such, with ten digits of
// the United States; big-store.example takes them with hyphens only. An effort of
// "low" gives a merchant up that takes more than three times as long as usual.
//
// An event of a product says what has become of it: after product.updated its
// price or its stock differs, after product.removed the lookup answers 404, until
// the next event.
//
// All that happens is drawn from the seed: the n-th intent of a seed has the
// same id, offer and fate in every run. The windows of the buckets, the 5
// seconds of a delivery and the pauses between its attempts are real time;
// everything else is divided by the speed.
//
// # Magic product URLs
//
// A product URL whose path ends in /magic/ and a name asks for a fate:
//
//   - a failure code, such as https://shop.example/magic/payment_failed: the
//     intent fails with this code, at the step where it naturally strikes, or
//     with ?while=placing while its order is placed. checkout_intent_expired lets
//     the confirm window close soon after the offer.
//   - sold-out, unpublished: fails as product_out_of_stock, offer_retrieval_failed,
//     and the lookup agrees.
//   - partial-stock: four sizes, every second out of stock. many-variants: 28
//     variants.
//   - high-value, on-sale, tax-exempt, digital, heavyweight, preorder: what they
//     say of the offer and the product.
//   - delayed-shipping, canceled-shipping, no-tracking, split-shipment: what they
//     say of the shipments.
//   - slow-offer, slow-order: ten times as long. never-offered: retrieval goes on
//     until the confirm window closes.
//   - hostile-text: control characters and escape sequences in free text.
//
// # Webhooks
//
// A registered endpoint first gets the verification challenge, again and again
// until it answers, then what had happened before, one by one in order, then
// what happens, up to eight at a time. A delivery that is not answered with 200
// within 5 seconds is tried again after each of [RetryPauses], then given up.
//
// # Control API
//
// Under /control/, with the same key, without buckets:
//
//	GET  /control/state                     what Summary returns
//	POST /control/intents                   {"productUrl","quantity","referenceId","state","failure","whilePlacing",
//	                                        "purchase","offerAfter","placingAfter","confirmAfter"}, all optional, seconds
//	POST /control/intents/{id}/expire       the confirm window closes now
//	POST /control/intents/{id}/finish       the placing of its order ends now
//	POST /control/shipments/{id}/advance    the next scan happens now
//	POST /control/failures                  {"count":1,"status":500,"path":"/api/v1/","method":"","after":false,
//	                                        "drop":false,"twice":false,"lateBy":0}
//	POST /control/failures/end              what is held back by lateBy goes on now
//	PUT  /control/buckets/{name}            {"remaining":0}: mutations, reads, product-lookup or checkout-intents
//	POST /control/webhook-endpoints         {"url","history":false}
//	POST /control/products/events           {"productUrl","topic":"product.updated"|"product.removed","price","availability"}
package simulator
