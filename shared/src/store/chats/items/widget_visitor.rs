//! The stored form of what a widget knows about a visitor: the attribute `widget` of the visitor's item. An update sets
//! only the changed fields of [`WidgetVisitorItem`], so that concurrent changes to other fields are preserved.

use serde::{Deserialize, Serialize};

use crate::domain::chats::chat_side_panel::CustomData;
use crate::domain::visitors::widget_visitor::{Analytics, BrowserSession, GeoIp, HiddenThrough, Utm, WidgetVisitor};

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WidgetVisitorItem {
    pub session: SessionItem,
    pub utm: UtmItem,
    pub page_title: Option<String>,
    pub analytics: Option<AnalyticsItem>,
    pub user_token: Option<String>,
    pub custom_data: Vec<WidgetCustomDataItem>,
    pub answers: Vec<WidgetCustomDataItem>,
    pub hidden_through: HiddenThroughItem,
}

impl Default for WidgetVisitorItem {
    fn default() -> Self {
        WidgetVisitor::default().into()
    }
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct SessionItem {
    ip_addr: String,
    user_agent: String,
    referrer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    region_code: String,
    country: String,
    country_code: String,
    region: String,
    city: String,
    latitude: String,
    longitude: String,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct UtmItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    medium: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AnalyticsItem {
    ga: Option<String>,
    ym: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WidgetCustomDataItem {
    title: Option<String>,
    content: String,
    link: Option<String>,
    key: Option<String>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct HiddenThroughItem {
    chat_id: u64,
    seq: u64,
}

impl From<WidgetVisitor> for WidgetVisitorItem {
    fn from(widget: WidgetVisitor) -> Self {
        let WidgetVisitor { session, utm, page_title, analytics, user_token, custom_data, answers, hidden_through } =
            widget;
        let BrowserSession { ip_addr, user_agent, referrer, language, geoip } = session;
        let GeoIp { region_code, country, country_code, region, city, latitude, longitude } = geoip;
        let Utm { source, campaign, content, medium, term } = utm;
        let HiddenThrough { chat_id, seq } = hidden_through;
        let line = |CustomData { title, content, link, key }| WidgetCustomDataItem { title, content, link, key };
        Self {
            session: SessionItem {
                ip_addr,
                user_agent,
                referrer,
                language,
                region_code,
                country,
                country_code,
                region,
                city,
                latitude,
                longitude,
            },
            utm: UtmItem { source, campaign, content, medium, term },
            page_title,
            analytics: analytics.map(|Analytics { ga, ym }| AnalyticsItem { ga, ym }),
            user_token,
            custom_data: custom_data.into_iter().map(line).collect(),
            answers: answers.into_iter().map(line).collect(),
            hidden_through: HiddenThroughItem { chat_id, seq },
        }
    }
}

impl From<WidgetVisitorItem> for WidgetVisitor {
    fn from(item: WidgetVisitorItem) -> Self {
        let WidgetVisitorItem { session, utm, page_title, analytics, user_token, custom_data, answers, hidden_through } =
            item;
        let SessionItem {
            ip_addr,
            user_agent,
            referrer,
            language,
            region_code,
            country,
            country_code,
            region,
            city,
            latitude,
            longitude,
        } = session;
        let UtmItem { source, campaign, content, medium, term } = utm;
        let HiddenThroughItem { chat_id, seq } = hidden_through;
        let geoip = GeoIp { region_code, country, country_code, region, city, latitude, longitude };
        let line = |WidgetCustomDataItem { title, content, link, key }| CustomData { title, content, link, key };
        Self {
            session: BrowserSession { ip_addr, user_agent, referrer, language, geoip },
            utm: Utm { source, campaign, content, medium, term },
            page_title,
            analytics: analytics.map(|AnalyticsItem { ga, ym }| Analytics { ga, ym }),
            user_token,
            custom_data: custom_data.into_iter().map(line).collect(),
            answers: answers.into_iter().map(line).collect(),
            hidden_through: HiddenThrough { chat_id, seq },
        }
    }
}
