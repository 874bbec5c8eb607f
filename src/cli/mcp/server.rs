//! What a program asks for: the list of tools, and calls.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::calls::{self, Failure};
use super::session::Session;
use super::tools::{self, INSTRUCTIONS};

/// The server of one session.
pub(super) struct Server {
    session: Session,
    tools: Vec<Tool>,
}

impl Server {
    pub(super) fn new(session: Session) -> Self {
        let tools = tools::all(session.is_read_only);
        Self { session, tools }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("tempmail", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = &self.session;
        if self.get_tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        let _place = match session.place() {
            Ok(place) => place,
            Err(error) => return Ok(calls::failed(&error).into()),
        };
        let given = request.arguments;
        let result = match request.name.as_ref() {
            "new_address" => calls::new_address(session, given).await,
            "wait_for_mail" => calls::wait_for_mail(session, &context, given).await,
            "wait_for_code" => calls::wait_for_code(session, &context, given).await,
            "list_inbox" => calls::list_inbox(session, given).await,
            "read_mail" => calls::read_mail(session, given).await,
            "delete_mail" => calls::delete_mail(session, given).await,
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        };
        match result {
            Ok(result) => Ok(result.into()),
            Err(Failure::Failed(error)) => Ok(calls::failed(&error).into()),
            Err(Failure::Refused(error)) => Err(error),
        }
    }
}
