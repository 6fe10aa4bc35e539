//! How connections are secured, and what became of that, as machines tell each other.

use serde::{Deserialize, Serialize};
use stats::{Distribution, DistributionParts};
use tls::{Agreed, Pem, Report, Settings};
use units::Share;

use crate::bounds::COUNT_MAX;
use crate::error::NotALoad;
use crate::kinds::{Kinds, kinds, known, sum, tls_end, tls_failure};
use crate::times::DistributionForm;

/// Bytes of a name.
const NAME_BYTES_MAX: usize = 256;
/// Kinds of what connections agreed on. There are no more than what was offered allows.
const AGREED_MAX: usize = 1000;

/// How the connections of a load are secured. What one machine has in files is told by what is in them: others have no such
/// files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsForm {
    /// The host of the URL.
    host: String,
    insecure: bool,
    /// These three in PEM form.
    trusted: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
    name: Option<String>,
    version_min: String,
    version_max: String,
    ciphers: Option<String>,
    tls13_ciphers: Option<String>,
    groups: Option<String>,
    resume: bool,
    /// As it is written.
    full_handshakes: Option<String>,
}

impl SettingsForm {
    pub(crate) fn of(host: &str, settings: &Settings) -> Result<Self, NotALoad> {
        Ok(Self {
            host: host.to_owned(),
            insecure: settings.insecure,
            trusted: settings.trusted.as_ref().map(text).transpose()?,
            certificate: settings.certificate.as_ref().map(text).transpose()?,
            key: settings.key.as_ref().map(text).transpose()?,
            name: settings.name.clone(),
            version_min: settings.version_min.to_string(),
            version_max: settings.version_max.to_string(),
            ciphers: settings.ciphers.clone(),
            tls13_ciphers: settings.tls13_ciphers.clone(),
            groups: settings.groups.clone(),
            resume: settings.resume,
            full_handshakes: settings.full_handshakes.map(|it| it.to_string()),
        })
    }

    /// The host of the URL.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// What a user would have asked for. Which protocols servers choose from is the plan's.
    pub(crate) fn settings(&self) -> Result<Settings, NotALoad> {
        let pem = |text: &String| Pem::Text(text.as_bytes().into());
        let version = |text: &String| text.parse().map_err(NotALoad::new);
        let share = |text: &String| text.parse::<Share>().map_err(NotALoad::new);
        Ok(Settings {
            insecure: self.insecure,
            trusted: self.trusted.as_ref().map(pem),
            certificate: self.certificate.as_ref().map(pem),
            key: self.key.as_ref().map(pem),
            name: self.name.clone(),
            version_min: version(&self.version_min)?,
            version_max: version(&self.version_max)?,
            ciphers: self.ciphers.clone(),
            tls13_ciphers: self.tls13_ciphers.clone(),
            groups: self.groups.clone(),
            resume: self.resume,
            full_handshakes: self.full_handshakes.as_ref().map(share).transpose()?,
            protocols: Settings::default().protocols,
        })
    }
}

fn text(pem: &Pem) -> Result<String, NotALoad> {
    match pem {
        // What is no text is a remark between certificates.
        Pem::Text(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Pem::File(_) => Err(NotALoad::new(format!("{pem} is a file of one machine"))),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgreedForm {
    version: String,
    cipher: String,
    group: Option<String>,
    protocol: Option<String>,
}

impl AgreedForm {
    fn of(agreed: &Agreed) -> Self {
        Self {
            version: agreed.version.to_string(),
            cipher: agreed.cipher.to_string(),
            group: agreed.group.as_ref().map(ToString::to_string),
            protocol: agreed.protocol.clone(),
        }
    }

    fn fits(&self) -> bool {
        let names = [Some(&self.version), Some(&self.cipher), self.group.as_ref(), self.protocol.as_ref()];
        names.into_iter().flatten().all(|name| name.len() <= NAME_BYTES_MAX)
    }

    fn agreed(&self) -> Agreed {
        Agreed {
            version: self.version.clone().into(),
            cipher: self.cipher.clone().into(),
            group: self.group.clone().map(Into::into),
            protocol: self.protocol.clone(),
        }
    }
}

/// What became of the handshakes of an agent, what came before the window included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handshakes {
    agreed: Vec<(AgreedForm, u64)>,
    full: u64,
    resumed: u64,
    failed: Kinds,
    broken: Kinds,
    connect: DistributionForm,
    handshake: DistributionForm,
}

impl Handshakes {
    /// As they are told.
    pub fn of(report: &Report) -> Self {
        let Report { agreed, full, resumed, failed, broken, connect, handshake } = report;
        Self {
            agreed: agreed.iter().map(|(it, count)| (AgreedForm::of(it), *count)).collect(),
            full: *full,
            resumed: *resumed,
            failed: kinds(failed),
            broken: kinds(broken),
            connect: connect.parts().into(),
            handshake: handshake.parts().into(),
        }
    }

    /// What is told; `None` of what can't have happened.
    pub fn report(&self) -> Option<Report> {
        // Those of all agents are added up.
        let counts = [sum(self.agreed.iter().map(|it| it.1)), self.full, self.resumed];
        let fits = self.agreed.len() <= AGREED_MAX
            && self.agreed.iter().all(|it| it.0.fits())
            && counts.iter().all(|count| *count <= COUNT_MAX);
        if !fits {
            return None;
        }
        Some(Report {
            agreed: self.agreed.iter().map(|(it, count)| (it.agreed(), *count)).collect(),
            full: self.full,
            resumed: self.resumed,
            failed: known(&self.failed, tls_failure)?,
            broken: known(&self.broken, tls_end)?,
            connect: times(&self.connect)?,
            handshake: times(&self.handshake)?,
        })
    }
}

fn times(form: &DistributionForm) -> Option<Distribution> {
    let fits = form.count() <= COUNT_MAX && form.sums_fit();
    fits.then(|| Distribution::from_parts(&DistributionParts::from(form))).flatten()
}

#[cfg(test)]
mod tests {
    use engine::TlsFailure;
    use tls::Version;
    use units::Duration;

    use super::*;

    fn report() -> Report {
        let mut report = Report { full: 1, resumed: 2, ..Report::default() };
        let protocol = Some("h2".into());
        report.add_agreed(Agreed { version: "TLS 1.3".into(), protocol, ..Agreed::default() }, 3);
        report.failed.insert(TlsFailure::Alert(40).name(), 7);
        report.broken.insert(TlsFailure::Protocol.name(), 1);
        report.broken.insert(tls::RECORD_LIMIT, 2);
        (1..=3).for_each(|ms| report.handshake.record(Duration::from_millis(ms)));
        report.connect.record(Duration::from_micros(80));
        report
    }

    #[test]
    fn handshakes_that_travelled_are_the_very_same() {
        let bytes = serde_json::to_vec(&Handshakes::of(&report())).unwrap();
        let again: Handshakes = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(again.report(), Some(report()));
    }

    #[test]
    fn handshakes_that_no_load_can_have_are_refused() {
        let good = Handshakes::of(&report());
        let mut wrong = vec![good.clone(); 10];
        wrong[0].full = u64::MAX;
        wrong[1].agreed[0].1 = u64::MAX;
        wrong[2].agreed[0].0.cipher = "x".repeat(NAME_BYTES_MAX + 1);
        wrong[3].agreed = vec![good.agreed[0].clone(); AGREED_MAX + 1];
        wrong[4].failed[0].1 = u64::MAX;
        wrong[5].handshake.exact.filled[0].1 = u64::MAX;
        wrong[6].connect.exact_sum_ns.0 = u64::MAX;
        // Each of these can be, and all together can't.
        wrong[7].agreed = vec![(good.agreed[0].0.clone(), COUNT_MAX); 2];
        wrong[8].failed = vec![("alert_40".into(), COUNT_MAX), ("certificate".into(), 1)];
        wrong[9].broken = vec![("protocol".into(), COUNT_MAX); 2];
        for handshakes in wrong {
            assert_eq!(handshakes.report(), None, "{handshakes:?}");
        }
    }

    #[test]
    fn settings_that_travelled_are_the_same_and_files_do_not_travel() {
        let text = |text: &str| Some(Pem::Text(text.as_bytes().into()));
        let settings = Settings {
            trusted: text("authorities"),
            certificate: text("own"),
            key: text("secret"),
            name: Some("other.example".into()),
            version_max: Version::Tls12,
            groups: Some("X25519".into()),
            resume: true,
            full_handshakes: Share::percent(12.5),
            ..Settings::default()
        };
        let form = SettingsForm::of("shop.example", &settings).unwrap();
        let again: SettingsForm = serde_json::from_slice(&serde_json::to_vec(&form).unwrap()).unwrap();
        assert_eq!(
            (again.host(), format!("{:?}", again.settings().unwrap())),
            ("shop.example", format!("{settings:?}"))
        );
        assert_eq!(again.settings().unwrap().key, settings.key);
        let file = Settings { key: Some(Pem::File("/k.pem".into())), ..settings };
        assert!(SettingsForm::of("h", &file).is_err());
        assert!(SettingsForm { version_max: "1.1".into(), ..form }.settings().is_err());
    }
}
