//! Routes to handlers. The type of a handler ends here: what the router puts around handlers is compiled once, and not once for
//! each of them.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodFilter, MethodRouter};

use super::Api;

type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Any handler.
#[derive(Clone)]
struct Erased(Arc<dyn Fn(Request, Arc<Api>) -> Answering + Send + Sync>);

impl Handler<(), Arc<Api>> for Erased {
    type Future = Answering;

    fn call(self, request: Request, api: Arc<Api>) -> Answering {
        (self.0)(request, api)
    }
}

/// Answers `GET` and `HEAD`.
pub(super) fn get<T: 'static>(handler: impl Handler<T, Arc<Api>>) -> MethodRouter<Arc<Api>> {
    on(MethodFilter::GET, handler)
}

/// Answers `POST`.
pub(super) fn post<T: 'static>(handler: impl Handler<T, Arc<Api>>) -> MethodRouter<Arc<Api>> {
    on(MethodFilter::POST, handler)
}

/// Answers `PUT`.
pub(super) fn put<T: 'static>(handler: impl Handler<T, Arc<Api>>) -> MethodRouter<Arc<Api>> {
    on(MethodFilter::PUT, handler)
}

/// Answers `PATCH`.
pub(super) fn patch<T: 'static>(handler: impl Handler<T, Arc<Api>>) -> MethodRouter<Arc<Api>> {
    on(MethodFilter::PATCH, handler)
}

/// Answers `DELETE`.
pub(super) fn delete<T: 'static>(handler: impl Handler<T, Arc<Api>>) -> MethodRouter<Arc<Api>> {
    on(MethodFilter::DELETE, handler)
}

fn on<T: 'static>(method: MethodFilter, handler: impl Handler<T, Arc<Api>>) -> MethodRouter<Arc<Api>> {
    routing::on(method, Erased(Arc::new(move |request, api| Box::pin(handler.clone().call(request, api)))))
}
