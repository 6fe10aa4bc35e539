//! A cluster, and a thread that speaks with it.

use std::future::Future;
use std::time::Duration;

use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Api, Client, Config};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::error::{Error, causes};

/// How long the API server may take for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// A namespace of a cluster, as somebody in particular.
#[derive(Clone)]
pub struct Cluster {
    handle: Handle,
    client: Client,
    namespace: String,
    context: Option<String>,
    server: String,
}

impl Cluster {
    /// That of a context of the kubeconfig, of the current one by default, or the one that we run in. Nothing is asked of it
    /// yet.
    ///
    /// # Errors
    /// If nobody says which, or what is said can't be used.
    pub fn connect(context: Option<&str>, namespace: Option<&str>) -> Result<Self, Error> {
        let handle = start_thread().map_err(|why| Error::Api(format!("cannot start a thread ({why})")))?;
        let (config, context) = handle.block_on(configure(context))?;
        let server = config.cluster_url.to_string();
        let namespace = namespace.map_or_else(|| config.default_namespace.clone(), str::to_owned);
        // The client's own tasks are for the thread.
        let client = handle.block_on(async { Client::try_from(config) });
        let client = client.map_err(|why| Error::BadKubeconfig(causes(&why)))?;
        Ok(Self { handle, client, namespace, context, server })
    }

    /// The same in another namespace, where one is named.
    pub(crate) fn within(&self, namespace: Option<&str>) -> Self {
        let namespace = namespace.unwrap_or(&self.namespace).to_owned();
        Self { namespace, ..self.clone() }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The context of the kubeconfig; none where we run in the cluster.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The same in words.
    pub fn place(&self) -> String {
        self.context().map_or_else(|| "this pod's cluster".to_owned(), |name| format!("context {name}"))
    }

    /// The objects of one kind in the namespace.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The objects of one kind that are in no namespace.
    pub(crate) fn api_of_all<K>(&self) -> Api<K>
    where
        K: kube::Resource,
        K::DynamicType: Default,
    {
        Api::all(self.client.clone())
    }

    /// Waits for an answer.
    pub(crate) fn ask<T>(&self, question: impl Future<Output = kube::Result<T>>) -> Result<T, Error> {
        self.ask_raw(question)?.map_err(|why| self.meaning(&why))
    }

    /// The same, for whoever can do something about a refusal; an error if there is no answer in time.
    pub(crate) fn ask_raw<T>(
        &self,
        question: impl Future<Output = kube::Result<T>>,
    ) -> Result<kube::Result<T>, Error> {
        let late = || Error::Unreachable {
            server: self.server.clone(),
            why: format!("no answer within {} s", ANSWER_WITHIN.as_secs()),
        };
        self.wait(async { timeout(ANSWER_WITHIN, question).await }).map_err(|_| late())
    }

    /// What a refusal means.
    pub(crate) fn meaning(&self, refusal: &kube::Error) -> Error {
        Error::of_answer(refusal, &self.namespace, &self.server)
    }

    /// Waits for something that happens on the thread.
    pub(crate) fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        self.handle.block_on(what)
    }

    /// The thread, for streams that are read from others.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// Begins a thread that lasts as long as the process: streams end when they are aborted, and not with it.
fn start_thread() -> std::io::Result<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name("kubernetes".into())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(handle)
}

/// What is known of the cluster, and what the context is called.
async fn configure(context: Option<&str>) -> Result<(Config, Option<String>), Error> {
    let kubeconfig = match Kubeconfig::read() {
        Ok(kubeconfig) => kubeconfig,
        Err(why) => return in_cluster(context, &why),
    };
    let known: Vec<String> = kubeconfig.contexts.iter().map(|it| it.name.clone()).collect();
    let name = context.map(str::to_owned).or_else(|| kubeconfig.current_context.clone());
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = config.map_err(|why| Error::of_kubeconfig(&why, known))?;
    Ok((config, name))
}

/// Where there is no kubeconfig we may be in a pod.
fn in_cluster(context: Option<&str>, why: &KubeconfigError) -> Result<(Config, Option<String>), Error> {
    let is_missing = matches!(why, KubeconfigError::FindPath | KubeconfigError::ReadConfig(..));
    if context.is_some() || !is_missing {
        return Err(Error::of_kubeconfig(why, Vec::new()));
    }
    match Config::incluster() {
        Ok(config) => Ok((config, None)),
        Err(InClusterError::ReadEnvironmentVariable(_)) => Err(Error::of_kubeconfig(why, Vec::new())),
        Err(other) => Err(Error::NoKubeconfig(causes(&other))),
    }
}
