//! Plain POSTs over reused connections: the most that the receiver and the machine can do.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::receiver::Example;
use crate::support::{Result, figures};

/// Posts `example` `requests` times with hyper, as oha does: over `per_origin` connections to each address, each of which
/// sends its next request when it has its answer. Requests per second from when all connections are there and were used.
pub(crate) fn rate(addresses: &[SocketAddr], per_origin: usize, requests: usize, example: &Example) -> Result<f64> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let connections = addresses.len() * per_origin;
    let each = requests / connections;
    runtime.block_on(async {
        let mut clients = Vec::new();
        for number in 0..connections {
            let mut client = Client::connect(addresses[number % addresses.len()], example).await?;
            client.post(1).await?;
            clients.push(client);
        }
        let begun = Instant::now();
        let mut posting = tokio::task::JoinSet::new();
        for mut client in clients {
            posting.spawn(async move { client.post(each).await.map_err(|error| error.to_string()) });
        }
        while let Some(ended) = posting.join_next().await {
            ended??;
        }
        Ok(figures::per_second(each * connections, begun.elapsed()))
    })
}

/// A connection on which one request is made after another.
struct Client {
    sender: http1::SendRequest<Full<Bytes>>,
    headers: HeaderMap,
    body: Bytes,
}

impl Client {
    async fn connect(address: SocketAddr, example: &Example) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut http = http1::Builder::new();
        let (sender, connection) = http.title_case_headers(true).handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let Example { mut headers, body } = example.clone();
        headers.insert(HOST, address.to_string().parse()?);
        Ok(Self { sender, headers, body })
    }

    async fn post(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            let mut request = Request::post("/hook").body(Full::new(self.body.clone()))?;
            request.headers_mut().clone_from(&self.headers);
            self.sender.ready().await?;
            let answer = self.sender.send_request(request).await?;
            if answer.status() != 200 {
                return Err("an answer other than 200".into());
            }
            answer.into_body().collect().await?;
        }
        Ok(())
    }
}
