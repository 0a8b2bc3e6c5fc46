//! Tests of the library through its public API, with fake sources and stores.
//!
//! All waits are on tokio's paused clock: a sleep takes no time and is exact.
//!
//! A comment such as `// C2` names the case of client-go's own test suite that a test covers. Unit tests are in the
//! library's modules. A case with a different result in kdelta is adapted. These cases have no counterpart:
//!
//! | Case | In client-go | Here |
//! |---|---|---|
//! | A19 | `UndeltaStore` | a custom [`kdelta::reflector::ReflectorStore`] receives every change |
//! | A20 | typed indexers and handlers | one `Object`, and `Object::parse` |
//! | A21–A24 | `ExpirationCache` | nothing in an informer expires |
//! | A25–A29 | `MutationCache` | the library writes nothing, so there is nothing to read back |
//! | A30 | `Heap` | no queue here orders by priority |
//! | D12, D13, F1 in a batch | `PopBatch`, transactions of a batch | one pop, one lock; F1 one at a time |
//! | E3 | `SyncAll`, a resync as one delta | a resync alternates with live events, one object at a time |
//! | F5 | a transformer that returns no object | a transformer returns an object |
//! | G5, G31 | the result channel of a watch, the channel of the resync timer | the stream is dropped; G16, I1 |
//! | G15 | retries of internal errors until a deadline | the table of recovery actions in `reflector` |
//! | G24 | the expected type as text and `GroupVersionKind` | the type is the source's; a Table is rejected |
//! | G32 | a second list that checks the first | the property tests of the informer and the tests on a real server |
//! | H2 | periodic warnings while no initial event arrives | a deadline, and an event for the observer |
//! | H6 | a list made into a watch-list by the client | only a reflector requests one |
//! | I24 | `WaitFor` with checkers | `synced().await`, and `SharedInformerFactory::wait_for_cache_sync` names the informers that have not |
//! | I26 | `Lazy` evaluation of the store's version | the version is a value |
//! | J1 `paginated`, J3 | whether a pager took pages; pages fetched ahead | items are delivered as the page arrives; the pager does not prefetch |
//! | J2 with a panic or a cancel in the callback | | a store returns an error; the future is dropped |
//! | J12 | the unbounded buffer between an informer and its watch | the bounded channel of a subscription |
//! | L1–L6, L8, L11–L13 | kube-rs' reflector, store and stream adapters | other types; F, G, H and I cover their guarantees |

mod cases;
mod informer;
mod reflector;
