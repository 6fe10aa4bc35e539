//! Plans as users write them, and results as JMeter's readers read them.

mod bad_input;
mod carried_out;
mod elements;
mod jtl;
mod plans;

/// An element that is named by its class, with texts and what is below it.
fn element(class: &str, texts: &[(&str, &str)], below: &str) -> String {
    let text = |(name, text): &(&str, &str)| format!("<stringProp name=\"{name}\">{text}</stringProp>");
    let texts: String = texts.iter().map(text).collect();
    format!("<{class} testname=\"{class}\">{texts}</{class}><hashTree>{below}</hashTree>")
}

/// The text of a plan of this name that has these at its test plan.
fn plan_text(name: &str, elements: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"{name}\"/><hashTree>{elements}</hashTree></hashTree>\
         </jmeterTestPlan>"
    )
}
